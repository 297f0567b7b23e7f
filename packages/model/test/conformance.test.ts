import { describe, expect, it } from "vitest";
import { kernelsConformance, type ConformanceOptions } from "../src/conformance.js";
import { createPlainKernels, type Kernels } from "../src/index.js";
import { microBatchesBy } from "./micro-batches.js";

const tolerance = 2e-5;

describe("the plain kernels in float32 agree with those in float64:", () => {
  const cases = kernelsConformance(createPlainKernels, { tolerance });
  it.each(cases)("$name", async (one) => {
    await expect(one.run()).resolves.toBeUndefined();
  });
});

describe("so do they where logits are computed twice:", () => {
  const cases = kernelsConformance(() => createPlainKernels({ keptLogits: 0 }), { tolerance });
  it.each(cases.filter(({ name }) => name.startsWith("output with softmax")))(
    "$name",
    async (one) => {
      await expect(one.run()).resolves.toBeUndefined();
    },
  );
});

describe("so do they in steps of many micro-batches:", () => {
  const create = () => {
    const kernels = createPlainKernels();
    const trainMicroBatches = microBatchesBy(kernels, (rate, rows) => -rate / rows);
    return { ...kernels, trainMicroBatches };
  };
  const cases = kernelsConformance(create, { tolerance });
  it.each(cases.filter(({ name }) => name.startsWith("micro-batches")))("$name", async (one) => {
    await expect(one.run()).resolves.toBeUndefined();
  });
});

/** The plain kernels with one operation replaced by a faulty one. */
type Fault = (sound: Kernels) => Partial<Kernels>;

const faults: Record<string, { readonly caughtBy: string; readonly fault: Fault }> = {
  "a row's last non-zero is lost": {
    caughtBy: "gather with relu",
    fault: (sound) => ({
      gather(batch, ...rest) {
        const offsets = batch.offsets.slice();
        offsets[batch.rows]! -= offsets[batch.rows]! > offsets[batch.rows - 1]! ? 1 : 0;
        sound.gather({ ...batch, offsets }, ...rest);
      },
    }),
  },
  "the bias is forgotten": {
    caughtBy: "dense with tanh",
    fault: (sound) => ({
      dense(rows, input, layer, ...rest) {
        sound.dense(rows, input, { ...layer, bias: new Float32Array(layer.outputs) }, ...rest);
      },
    }),
  },
  "rows without labels are trained on": {
    caughtBy: "output with sigmoid over 5 units",
    fault: (sound) => ({
      output(batch, ...rest) {
        // Every row without labels is given class 0.
        const labels: number[] = [];
        const labelOffsets = [0];
        for (let row = 0; row < batch.rows; row++) {
          const own = batch.labels.slice(batch.labelOffsets[row], batch.labelOffsets[row + 1]);
          labels.push(...(own.length === 0 ? [0] : own));
          labelOffsets.push(labels.length);
        }
        const changed = {
          labels: Uint32Array.from(labels),
          labelOffsets: Uint32Array.from(labelOffsets),
        };
        sound.output({ ...batch, ...changed }, ...rest);
      },
    }),
  },
  "derivatives use the weights after the update": {
    caughtBy: "dense backward with tanh",
    fault: (sound) => ({
      denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput) {
        const again = dOutputs.slice();
        sound.denseBackward(rows, input, layer, activation, outputs, dOutputs, gradient, dInput);
        const nowhere = {
          kind: "add",
          target: { weights: layer.weights.slice(), bias: layer.bias.slice() },
          scale: 0,
        } as const;
        sound.denseBackward(rows, input, layer, activation, outputs, again, nowhere, dInput);
      },
    }),
  },
  "a repeated feature is updated once for every occurrence": {
    caughtBy: "scatter with relu",
    fault: (sound) => ({
      scatter(batch, layer, activation, outputs, dOutputs, gradient) {
        const units = layer.outputs;
        for (let row = 0; row < batch.rows; row++) {
          const at = batch.offsets[row]!;
          const end = batch.offsets[row + 1]!;
          const one = {
            ...batch,
            rows: 1,
            offsets: Uint32Array.of(0, end - at),
            indices: batch.indices.subarray(at),
            values: batch.values.subarray(at),
          };
          const from = row * units;
          const out = outputs.subarray(from);
          sound.scatter(one, layer, activation, out, dOutputs.subarray(from), gradient);
        }
      },
    }),
  },
  "equal logits are ranked by descending class": {
    caughtBy: "top k with equal logits",
    fault: (sound) => ({
      async topK(rows, hidden, layer, k, ids, logits, logSumExp) {
        await sound.topK(rows, hidden, layer, k, ids, logits, logSumExp);
        for (let i = 0; i + 1 < rows * k; i++) {
          if (logits[i] === logits[i + 1]) [ids[i], ids[i + 1]] = [ids[i + 1]!, ids[i]!];
        }
      },
    }),
  },
  "a target among the sources is overwritten too early": {
    caughtBy: "blend",
    fault: () => ({
      blend(target, terms) {
        target.fill(0);
        for (const { coefficient, source } of terms) {
          source.forEach((value, i) => (target[i]! += coefficient * value));
        }
      },
    }),
  },
  "one slot serves both batches": {
    caughtBy: "a batch stays in its slot while the other is uploaded to",
    fault: () => {
      const shared = { rows: 0 };
      return { upload: (batch) => Object.assign(shared, batch) };
    },
  },
  "one slot serves the labels of both batches": {
    caughtBy: "a batch stays in its slot while the other is uploaded to",
    fault: () => {
      const labels = new Uint32Array(1000);
      return {
        upload(batch) {
          labels.set(batch.labels.subarray(0, batch.labelOffsets[batch.rows]));
          return { ...batch, labels };
        },
      };
    },
  },
  "a short last micro-batch counts as a whole one": {
    caughtBy: "micro-batches with softmax",
    fault: (sound) => ({
      trainMicroBatches: microBatchesBy(sound, (rate, _, microRows) => -rate / microRows),
    }),
  },
  "the end of a block of classes is written past": {
    caughtBy: "output with softmax at large shapes",
    fault: (sound) => ({
      output(batch, hidden, layer, loss, gradient, ...rest) {
        sound.output(batch, hidden, layer, loss, gradient, ...rest);
        if (gradient === null || layer.outputs % 4 === 0) return;
        const { buffer, byteOffset, length } = gradient.target.bias;
        new Float32Array(buffer, byteOffset)[length] = 0;
      },
    }),
  },
  "a target elsewhere is taken for the layer": {
    caughtBy: "scatter with tanh",
    fault: (sound) => ({
      scatter(batch, layer, activation, outputs, dOutputs, gradient) {
        const target = gradient.kind === "rule" ? layer : gradient.target;
        sound.scatter(batch, layer, activation, outputs, dOutputs, { ...gradient, target });
      },
    }),
  },
  "the last block of many classes is left out": {
    caughtBy: "output with sigmoid at large shapes",
    fault: (sound) => ({
      output(batch, hidden, layer, loss, _, dHidden, losses) {
        const outputs = layer.outputs > 192 ? layer.outputs - (layer.outputs % 96) : layer.outputs;
        const labels = batch.labels.map((label) => Math.min(label, outputs - 1));
        sound.output(
          { ...batch, labels },
          hidden,
          { ...layer, outputs },
          loss,
          null,
          dHidden,
          losses,
        );
      },
    }),
  },
  "the last row is left out of a gradient": {
    caughtBy: "output with sigmoid over 33 units",
    fault: (sound) => ({
      output(batch, hidden, layer, loss, gradient, dHidden, losses) {
        sound.output(batch, hidden, layer, loss, null, dHidden, losses);
        if (gradient === null) return;
        const rows = batch.rows - 1;
        sound.output({ ...batch, rows }, hidden, layer, loss, gradient, null, losses.slice());
      },
    }),
  },
  "relu makes NaN 0": {
    caughtBy: "NaN comes through activations",
    fault: (sound) => ({
      dense(rows, input, layer, activation, out) {
        sound.dense(rows, input, layer, activation, out);
        if (activation !== "relu") return;
        for (let i = 0; i < out.length; i++) out[i] = out[i]! > 0 ? out[i]! : 0;
      },
    }),
  },
  "losses that are not finite are left out": {
    caughtBy: "NaN and infinity show in losses with softmax",
    fault: (sound) => ({
      output(batch, hidden, layer, loss, gradient, dHidden, losses) {
        sound.output(batch, hidden, layer, loss, gradient, dHidden, losses);
        losses.forEach((value, i) => (losses[i] = Number.isFinite(value) ? value : 0));
      },
    }),
  },
  "the best logits are taken for the sum": {
    caughtBy: "NaN and infinity show in top k",
    fault: (sound) => ({
      topK(rows, hidden, layer, k, ids, logits, sums) {
        const finite = hidden.map((value) => (Number.isFinite(value) ? value : 0));
        return sound.topK(rows, finite, layer, k, ids, logits, sums);
      },
    }),
  },
  "elements at the end of an array are blended in float32": {
    caughtBy: "blend in parts",
    fault: (sound) => ({
      blend(target, terms) {
        sound.blend(target, terms);
        for (let i = target.length - (target.length % 8); i < target.length; i++) {
          target[i] = terms.reduce(
            (sum, { coefficient, source }) =>
              Math.fround(sum + Math.fround(coefficient) * source[i]!),
            0,
          );
        }
      },
    }),
  },
};

/** Runs the case with that fault. */
async function run(
  { caughtBy, fault }: { readonly caughtBy: string; readonly fault: Fault },
  options: ConformanceOptions,
): Promise<void> {
  const create = () => {
    const sound = createPlainKernels();
    return { ...sound, ...fault(sound) };
  };
  await kernelsConformance(create, options)
    .find(({ name }) => name === caughtBy)!
    .run();
}

describe("the conformance suite notices that", () => {
  it.each(Object.entries(faults))("%s", async (_, planted) => {
    await expect(run(planted, { seed: 3 })).rejects.toThrow(/, not .*\(seed 3\)$/u);
  });
});

describe("with what bfloat16 is allowed, it notices that", () => {
  const inOutput = Object.entries(faults).filter(([, { caughtBy }]) =>
    caughtBy.startsWith("output"),
  );
  it.each(inOutput)("%s", async (_, planted) => {
    const options = { seed: 3, tolerance: 8e-2, roundoff: 2 ** -8 };
    await expect(run(planted, options)).rejects.toThrow(/, not .*\(seed 3\)$/u);
  });
});

/** To the nearest number in bfloat16, ties to even. */
function rounded(values: Float32Array): Float32Array {
  const bits = new Uint32Array(values.slice().buffer);
  return new Float32Array(bits.map((x) => (x + 0x7fff + ((x >>> 16) & 1)) & 0xffff_0000).buffer);
}

describe("factors rounded to bfloat16", () => {
  // Of 130 products next to nothing is left, so that their rounding is most of it.
  const planted = {
    caughtBy: "output with sigmoid over 1 units",
    fault: (sound: Kernels): Partial<Kernels> => ({
      output(batch, hidden, layer, ...rest) {
        sound.output(
          batch,
          rounded(hidden),
          { ...layer, weights: rounded(layer.weights) },
          ...rest,
        );
      },
    }),
  };

  it("are more than the tolerance allows where products cancel", async () => {
    await expect(run(planted, { seed: 11, tolerance: 8e-2 })).rejects.toThrow("dHidden[0] is 0.01");
  });

  it("are allowed for by their roundoff, from which the error is worked out", async () => {
    await expect(run(planted, { seed: 11, tolerance: 8e-2, roundoff: 2 ** -8 })).resolves.toBe(
      undefined,
    );
  });

  it("are too much if they are said to have three more bits than they have", async () => {
    const options = { seed: 11, tolerance: 1e-3, roundoff: 2 ** -11 };
    await expect(run(planted, options)).rejects.toThrow("within");
  });
});
