import { describe, expect, it } from "vitest";
import { kernelsConformance } from "../src/conformance.js";
import { createPlainKernels, type Kernels } from "../src/index.js";

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
};

describe("the conformance suite notices that", () => {
  it.each(Object.entries(faults))("%s", async (_, { caughtBy, fault }) => {
    const create = () => {
      const sound = createPlainKernels();
      return { ...sound, ...fault(sound) };
    };
    const one = kernelsConformance(create, { seed: 3 }).find(({ name }) => name === caughtBy);
    await expect(one!.run()).rejects.toThrow(/, not .*\(seed 3\)$/u);
  });
});
