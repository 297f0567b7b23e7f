import {
  createNetwork,
  initialise,
  parameterLayout,
  type Batch,
  type ModelShape,
  type UpdateRule,
} from "@heterosgd/model";
import { describe, expect, test } from "vitest";
import { compileTime } from "../test/compile-time.js";
import { createGpuKernels } from "./gpu-kernels.js";
import { gpuKernelsBytes } from "./memory.js";
import { openclSupport } from "./opencl/devices.js";

const support = openclSupport();

interface Case {
  readonly features: number;
  readonly hidden: readonly number[];
  readonly labels: number;
  readonly rows: number;
  readonly options: { readonly blockBytes?: number; readonly keptBytes?: number };
}

const medium = { features: 3000, hidden: [64, 33], labels: 2000, rows: 100 } as const;
const cases: readonly Case[] = [
  { features: 500, hidden: [16], labels: 40, rows: 8, options: {} },
  { ...medium, options: {} },
  { ...medium, options: { blockBytes: 100_000, keptBytes: 0 } },
  { features: 200, hidden: [32], labels: 30_000, rows: 64, options: { blockBytes: 2 ** 20 } },
  { features: 20, hidden: [80], labels: 70, rows: 700, options: {} },
];
const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 };
const each = 9;

const batchOf = (rows: number): Batch => ({
  rows,
  offsets: Uint32Array.from({ length: rows + 1 }, (_, i) => i * each),
  indices: Uint32Array.from({ length: rows * each }, (_, i) => (i % each) * 2),
  values: new Float32Array(rows * each).fill(1),
  labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, i) => i * 2),
  labels: Uint32Array.from({ length: rows * 2 }, (_, i) => i % 2),
});

/** Steps of the whole size and smaller ones, with everything in them; the bytes held then. */
async function bytesAfterWork({ options, rows, ...sizes }: Case): Promise<number> {
  const kernels = createGpuKernels({ technology: "opencl", ...options });
  try {
    for (const loss of ["softmax", "sigmoid"] as const) {
      const shape: ModelShape = { ...sizes, activation: "relu", loss };
      const layout = parameterLayout(shape);
      const network = createNetwork(kernels, layout, { maxRows: rows });
      const [weights, first, second] = [0, 1, 2].map(() => kernels.allocate(layout.length));
      const host = new Float32Array(layout.length);
      initialise(layout, host, 1);
      kernels.write(host, weights!);
      const rule = { kind: "rule", target: weights!, scale: 1 / rows, rule: adam } as const;
      const target = { ...rule, learningRate: 0.01, step: 1, state: [first!, second!] };
      for (const count of [rows, Math.ceil(rows / 3), 1]) {
        for (const slot of [0, 1] as const) {
          await network.train(kernels.upload(batchOf(count), slot), count, weights!, target);
        }
      }
      const k = Math.min(10, sizes.labels);
      const top = {
        ids: new Uint32Array(rows * k),
        logits: new Float32Array(rows * k),
        logSumExp: new Float32Array(rows),
      };
      await network.predict(kernels.upload(batchOf(rows), 0), rows, weights!, k, top);
    }
    return kernels.workBytes();
  } finally {
    await kernels.dispose();
  }
}

describe.skipIf(!support.available)("work memory on OpenCL", compileTime, () => {
  test.each(cases)("is what was foretold: %o", async (one) => {
    const { features, hidden, labels, rows, options } = one;
    const shape: ModelShape = { features, hidden, labels, activation: "relu", loss: "softmax" };
    const foretold = gpuKernelsBytes(parameterLayout(shape), {
      maxRows: rows,
      maxNonZeros: rows * each,
      maxLabels: rows * 2,
      optimizer: adam,
      options,
    });
    const held = await bytesAfterWork(one);
    expect(held).toBeLessThanOrEqual(1.1 * foretold);
    expect(held).toBeGreaterThanOrEqual(0.9 * foretold);
  });

  test("stays what it is over a thousand steps", async () => {
    const kernels = createGpuKernels({ technology: "opencl" });
    const shape = { features: 40, hidden: [8], labels: 50, activation: "tanh" } as const;
    const layout = parameterLayout({ ...shape, loss: "softmax" });
    const network = createNetwork(kernels, layout, { maxRows: 4 });
    const weights = kernels.allocate(layout.length);
    const sgd = { kind: "add", target: weights, scale: -0.01 } as const;
    let before = 0;
    for (let step = 0; step < 1000; step++) {
      const slot = step % 2 === 0 ? 0 : 1;
      await network.train(kernels.upload(batchOf(4), slot), 4, weights, sgd);
      if (step === 1) before = kernels.workBytes();
    }
    expect(kernels.workBytes()).toBe(before);
    await kernels.dispose();
  });
});

test("what needs no device is refused with the reason", () => {
  const layout = parameterLayout({
    features: 3,
    hidden: [2],
    labels: 2,
    activation: "relu",
    loss: "softmax",
  });
  const limits = { maxRows: 0, maxNonZeros: 1, maxLabels: 1, optimizer: null };
  expect(() => gpuKernelsBytes(layout, limits)).toThrow(
    /^gpuKernelsBytes: maxRows is 0, expected a whole number of at least 1$/u,
  );
});
