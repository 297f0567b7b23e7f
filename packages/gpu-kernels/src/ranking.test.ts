/** Rankings of any size: few are picked one by one, many are sorted and merged. */
import { createPlainKernels } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { afterAll, describe, expect, test } from "vitest";
import { compileTime } from "../test/compile-time.js";
import { standIn } from "../test/stand-in.js";
import { createGpuKernels } from "./gpu-kernels.js";
import type { GpuKernels } from "./kernels/kernels.js";
import { rankingKeys, rankingSteps, slice, sortedFrom } from "./kernels/sizes.js";
import { openclSupport } from "./opencl/devices.js";

const opencl = openclSupport();

/** Logits of few values, so that many are equal, with some that are infinite. */
function logitsOf(rows: number, classes: number): Float32Array {
  const random = createRandom(rows, classes);
  return Float32Array.from({ length: rows * classes }, () => {
    const value = random.nextBelow(500) - 250;
    if (value === 0) return random.nextBelow(2) === 0 ? 0 : -0;
    return value > 247 ? (value === 248 ? Infinity : -Infinity) : value / 8;
  });
}

/** Two hidden rows of one unit each, so that a class's logits are its weight and −2 times that. */
async function rank(kernels: GpuKernels, weights: Float32Array, k: number) {
  const rows = 2;
  const classes = weights.length;
  const hidden = Float32Array.of(1, -2);
  const bias = new Float32Array(classes);
  const room = () => ({
    ids: new Uint32Array(rows * k),
    logits: new Float32Array(rows * k),
    sums: new Float32Array(rows),
  });
  const [found, expected] = [room(), room()];
  const own = {
    inputs: 1,
    outputs: classes,
    weights: kernels.allocate(classes),
    bias: kernels.allocate(classes),
  };
  const input = kernels.allocate(rows);
  kernels.write(weights, own.weights);
  kernels.write(hidden, input);
  await kernels.topK(rows, input, own, k, found.ids, found.logits, found.sums);
  const layer = { inputs: 1, outputs: classes, weights, bias };
  const plain = createPlainKernels();
  void plain.topK(rows, hidden, layer, k, expected.ids, expected.logits, expected.sums);
  return { found, expected };
}

const cases = [
  [40, 32],
  [40, 33],
  [40, 40],
  [slice, slice],
  [slice + 1, 34],
  [slice + 1, slice + 1],
  [2 * slice + 7, 2 * slice + 7],
  [2 * slice + 7, 32],
  [2 * slice + 7, slice - 1],
  [5 * slice - 1, 3 * slice + 5],
  [5 * slice, 1000],
] as const;

function agrees(create: () => GpuKernels): void {
  const kernels = create();
  afterAll(() => kernels.dispose());
  test.each(cases)("%i classes, the best %i", async (classes, k) => {
    const { found, expected } = await rank(kernels, logitsOf(1, classes), k);
    expect(found.ids).toEqual(expected.ids);
    expect(found.logits).toEqual(expected.logits);
  });
}

describe.skipIf(!opencl.available)("on OpenCL", compileTime, () => {
  // Blocks of slices, and as few rows at once as there can be.
  for (const blockBytes of [2 ** 24, 40_000]) {
    describe(`in blocks of ${blockBytes} bytes`, () => {
      agrees(() => createGpuKernels({ technology: "opencl", blockBytes }));
    });
  }
});

describe.skipIf(!standIn.ok)("on CUDA", compileTime, () => {
  const library = standIn.ok ? standIn.path : "";
  agrees(() => createGpuKernels({ technology: "cuda", library }));
});

test("steps end with one list of all that is asked for, in buffers that have room for each", () => {
  for (const slices of [1, 2, 3, 5, 8, 328]) {
    for (const k of [1, sortedFrom - 1, sortedFrom, 1000, slice, slice + 1, slices * slice]) {
      if (k > slices * slice) continue;
      const steps = rankingSteps(k, slices);
      expect(steps[0]).toEqual({ count: slices, length: Math.min(k, slice) });
      expect(steps.at(-1)).toEqual({ count: 1, length: k });
      const room = rankingKeys(k, slices);
      for (const [i, { count, length }] of steps.slice(0, -1).entries()) {
        expect(room[i % 2]).toBeGreaterThanOrEqual(count * length);
      }
    }
  }
});
