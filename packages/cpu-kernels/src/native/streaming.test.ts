/** Arrays so large that they are written past the caches, on ways of their own. */
import { createRandom } from "@heterosgd/sparse";
import type { Batch } from "@heterosgd/model";
import { describe, expect, test } from "vitest";
import { createNativeKernels } from "./native-kernels.js";
import { nativeSupport } from "./native-support.js";

const support = nativeSupport();
const isas = support.available ? support.isas : [];
const seed = Math.floor(Math.random() * 2 ** 32);

describe.skipIf(!support.available).each(isas)(`with ${seed} as seed, on %s`, (isa) => {
  const random = createRandom(seed, 0);
  const uniform = (length: number) =>
    new Float32Array(length).map(() => 2 * random.nextFloat() - 1);

  test("kept exponentials and those computed twice give the same step", () => {
    const [rows, units, classes] = [40, 8, 30_000];
    const batch: Batch = {
      rows,
      offsets: new Uint32Array(rows + 1),
      indices: new Uint32Array(0),
      values: new Float32Array(0),
      labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
      labels: Uint32Array.from({ length: rows }, () => random.nextBelow(classes)),
    };
    const given = {
      hidden: uniform(rows * units),
      weights: uniform(classes * units),
      bias: uniform(classes),
    };

    function step(keptBytes: number) {
      const kernels = createNativeKernels({ isa, threads: 2, keptBytes });
      const layer = {
        inputs: units,
        outputs: classes,
        weights: given.weights.slice(),
        bias: given.bias.slice(),
      };
      const dHidden = new Float32Array(rows * units);
      const losses = new Float32Array(rows);
      const gradient = { kind: "add", target: layer, scale: -0.5 } as const;
      const { hidden } = given;
      const uploaded = kernels.upload(batch, 0);
      kernels.output(uploaded, hidden, layer, "softmax", gradient, dHidden, losses);
      const bytes = kernels.workBytes();
      void kernels.dispose();
      return { losses, dHidden, weights: layer.weights, bias: layer.bias, bytes };
    }

    const kept = step(2 ** 30);
    const twice = step(0);
    // 30,000 classes of 40 rows.
    expect(kept.bytes - twice.bytes).toBeGreaterThan(4_800_000);
    for (const name of ["losses", "dHidden", "weights", "bias"] as const) {
      expect(kept[name], name).toBeAllClose(twice[name], { relative: 1e-5, absolute: 1e-6 });
    }
  });

  test("a blend gives the same bits as its parts", () => {
    const length = 2 ** 20 + 4321;
    const start = 5;
    const sources = [1, 2].map(() => uniform(start + length).subarray(start));
    const kernels = createNativeKernels({ isa, threads: 2 });
    const blend = (target: Float32Array, from: number, to: number) =>
      kernels.blend(
        target.subarray(from, to),
        sources.map((source, i) => ({ coefficient: 0.3 + i, source: source.subarray(from, to) })),
      );
    const whole = new Float32Array(start + length).subarray(start);
    const parts = new Float32Array(length);
    blend(whole, 0, length);
    for (let from = 0; from < length; from += 100_003) {
      blend(parts, from, Math.min(length, from + 100_003));
    }
    void kernels.dispose();
    expect(Buffer.compare(bytesOf(whole), bytesOf(parts))).toBe(0);
  });
});

function bytesOf(array: Float32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
