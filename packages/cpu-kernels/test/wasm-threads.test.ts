import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { allocateInWasmMemory, createWasmKernels, createWasmMemory } from "../src/index.js";

// Worker threads load no TypeScript: they take the built package.
const built = new URL("../dist/index.js", import.meta.url).href;

/** Runs a function's text in a worker, with the package's exports and `data`; resolves at its end. */
async function inWorker(run: string, data: unknown): Promise<unknown> {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(${JSON.stringify(built)}).then(async (kernels) => {
      parentPort.postMessage(await (${run})(kernels, workerData));
    });`;
  const worker = new Worker(code, { eval: true, workerData: data });
  const [[message], [exitCode]] = await Promise.all([
    once(worker, "message") as Promise<[unknown]>,
    once(worker, "exit") as Promise<[number]>,
  ]);
  expect(exitCode).toBe(0);
  return message;
}

describe("WebAssembly kernels in several threads", () => {
  test("train one model in one memory at once", async () => {
    const features = 300;
    const units = 24;
    const classes = 90;
    const rows = 64;
    const memory = createWasmMemory();
    const sizes = [features * units, units, classes * units, classes, rows, rows];
    const arrays = sizes.map((size) => allocateInWasmMemory(memory, size));
    for (const array of arrays) {
      for (let i = 0; i < array.length; i++) array[i] = Math.sin(i * 1.7) / 5;
    }
    const train = `({ createWasmKernels }, { memory, arrays, own, features, units, classes, rows }) => {
      const kernels = createWasmKernels({ memory });
      const [w1, b1, w2, b2] = arrays;
      const first = { inputs: features, outputs: units, weights: w1, bias: b1 };
      const last = { inputs: units, outputs: classes, weights: w2, bias: b2 };
      const losses = arrays[4 + own];
      const count = Uint32Array.from({ length: rows + 1 }, (_, i) => i);
      const batch = kernels.upload({
        rows,
        offsets: count,
        indices: Uint32Array.from({ length: rows }, (_, i) => (2 * i + own) % features),
        values: new Float32Array(rows).fill(1),
        labelOffsets: count,
        labels: Uint32Array.from({ length: rows }, (_, i) => (2 * i + own) % classes),
      }, 0);
      for (let step = 0; step < 300; step++) {
        kernels.trainMicroBatches(batch, [first, last], "relu", "softmax", 4, 0.5, losses);
      }
    }`;
    const shared = { memory, arrays, features, units, classes, rows };
    await Promise.all([0, 1].map((own) => inWorker(train, { ...shared, own })));
    for (const losses of arrays.slice(4)) {
      const mean = losses.reduce((sum, loss) => sum + loss, 0) / rows;
      expect(mean).toBeGreaterThan(0);
      expect(mean).toBeLessThan(0.5);
    }
  });

  test("take arrays from one memory at once, and none twice", async () => {
    const memory = createWasmMemory();
    const kernels = createWasmKernels({ memory });
    const early = kernels.allocate(100).fill(-1);
    const take = `({ allocateInWasmMemory, createWasmKernels }, { memory, own }) => {
      const kernels = createWasmKernels({ memory });
      const arrays = [];
      for (let i = 0; i < 400; i++) {
        const array = i % 2 ? kernels.allocate(900 + i) : allocateInWasmMemory(memory, 3000 + i);
        if (array.some((value) => value !== 0)) throw new Error("not zeroed");
        array.fill(own * 1000 + i);
        arrays.push(array);
      }
      return arrays;
    }`;
    const taken = (await Promise.all(
      [1, 2, 3].map((own) => inWorker(take, { memory, own })),
    )) as Float32Array[][];
    for (const [worker, arrays] of taken.entries()) {
      for (const [i, array] of arrays.entries()) {
        const value = (worker + 1) * 1000 + i;
        expect(array.every((element) => element === value)).toBe(true);
      }
    }
    // What others have taken, beyond all that this thread knew of, is within reach here.
    const last = taken[2]!.at(-1)!;
    const target = kernels.allocate(last.length);
    kernels.blend(target, [{ coefficient: 2, source: last }]);
    expect(target.every((element) => element === 2 * 3399)).toBe(true);
    expect(early.every((element) => element === -1)).toBe(true);
  });
});
