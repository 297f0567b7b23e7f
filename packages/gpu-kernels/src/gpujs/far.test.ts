/** Layers of more than 2²⁴ elements, where float32 can't count them any more. */
import { createPlainKernels, type Batch, type DeviceArray, type Kernels } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { modes, openShared } from "../../test/gpujs.js";

const beyond = 2 ** 24;
const random = createRandom(20_261_202, 1);
const uniform = (length: number): Float32Array =>
  new Float32Array(length).map(() => random.nextFloat() - 0.5);

const { mode } = modes.find(({ isAbsent }) => !isAbsent)!;

describe(`gpu.js on ${mode}`, { timeout: 300_000 }, () => {
  test("trains a first layer of more than 2²⁴ elements, whose features lie at its end", async () => {
    const units = 2;
    const features = beyond / units + 1000;
    const [last, before] = [features - 1, features - 2];
    const batch: Batch = {
      rows: 2,
      offsets: Uint32Array.of(0, 2, 4),
      indices: Uint32Array.of(3, last, before, last),
      values: Float32Array.of(0.5, -2, 1, 3),
      labelOffsets: Uint32Array.of(0, 0, 0),
      labels: new Uint32Array(0),
    };
    const rows = uniform(3 * units);
    const bias = uniform(units);
    const dOutputs = uniform(2 * units);

    async function train<A extends DeviceArray, U>(kernels: Kernels<A, U>) {
      const weights = kernels.allocate(features * units);
      const layer = { inputs: features, outputs: units, weights, bias: kernels.allocate(units) };
      for (const [i, feature] of [3, before, last].entries()) {
        const row = rows.subarray(i * units, (i + 1) * units);
        kernels.write(row, kernels.view(weights, feature * units, units));
      }
      kernels.write(bias, layer.bias);
      const out = kernels.allocate(2 * units);
      const d = kernels.allocate(2 * units);
      kernels.write(dOutputs, d);
      const uploaded = kernels.upload(batch, 0);
      kernels.gather(uploaded, layer, "tanh", out);
      const target = { kind: "add", target: layer, scale: -0.5 } as const;
      kernels.scatter(uploaded, layer, "tanh", out, d, target);
      const results = new Float32Array(2 * units + 3 * units);
      await kernels.read(out, results.subarray(0, 2 * units));
      for (const [i, feature] of [3, before, last].entries()) {
        const place = results.subarray((2 + i) * units, (3 + i) * units);
        await kernels.read(kernels.view(weights, feature * units, units), place);
      }
      return results;
    }

    const kernels = openShared(mode);
    expect(await train(kernels)).toBeAllClose(await train(createPlainKernels()), {
      absolute: 2e-5,
    });
    await kernels.dispose();
  });

  test("trains and ranks an output layer of more than 2²⁴ elements, whose labels lie at its end", async () => {
    const width = 8;
    const classes = beyond / width + 11_000;
    const rows = 2;
    const labels = [0, classes - 9000, classes - 1];
    const batch: Batch = {
      rows,
      offsets: Uint32Array.of(0, 0, 0),
      indices: new Uint32Array(0),
      values: new Float32Array(0),
      labelOffsets: Uint32Array.of(0, 2, 3),
      labels: Uint32Array.of(labels[0]!, labels[1]!, labels[2]!),
    };
    const initial = uniform(classes * width);
    const bias = uniform(classes);
    const hidden = uniform(rows * width);
    const best = classes - 5;
    bias[best] = 5;

    async function train<A extends DeviceArray, U>(kernels: Kernels<A, U>) {
      // Somewhere in a longer array, so that offsets are large as well.
      const start = 100;
      const flat = kernels.allocate(start + classes * (width + 1));
      const weights = kernels.view(flat, start, classes * width);
      const layer = {
        inputs: width,
        outputs: classes,
        weights,
        bias: kernels.view(flat, start + classes * width, classes),
      };
      kernels.write(initial, weights);
      kernels.write(bias, layer.bias);
      const activations = kernels.allocate(rows * width);
      kernels.write(hidden, activations);
      const losses = kernels.allocate(rows);
      const back = kernels.allocate(rows * width);
      const uploaded = kernels.upload(batch, 1);
      const target = { kind: "add", target: layer, scale: -0.5 } as const;
      kernels.output(uploaded, activations, layer, "softmax", target, back, losses);
      const results = new Float32Array(rows + rows * width + 3 * (width + 1));
      await kernels.read(losses, results.subarray(0, rows));
      await kernels.read(back, results.subarray(rows, rows + rows * width));
      let at = rows + rows * width;
      for (const label of labels) {
        await kernels.read(
          kernels.view(weights, label * width, width),
          results.subarray(at, at + width),
        );
        await kernels.read(
          kernels.view(layer.bias, label, 1),
          results.subarray(at + width, at + width + 1),
        );
        at += width + 1;
      }
      const k = 3;
      const ids = new Uint32Array(rows * k);
      const logits = new Float32Array(rows * k);
      const sums = new Float32Array(rows);
      await kernels.topK(rows, activations, layer, k, ids, logits, sums);
      return { results, ids, logits, sums };
    }

    const kernels = openShared(mode);
    const actual = await train(kernels);
    await kernels.dispose();
    const expected = await train(createPlainKernels());
    expect(actual.results).toBeAllClose(expected.results, { absolute: 2e-5 });
    expect(actual.ids).toEqual(expected.ids);
    expect(actual.logits).toBeAllClose(expected.logits, { absolute: 2e-5 });
    expect(actual.sums).toBeAllClose(expected.sums, { absolute: 2e-5 });
    expect([actual.ids[0], actual.ids[3]]).toEqual([best, best]);
  });
});
