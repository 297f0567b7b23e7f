import { readFileSync } from "node:fs";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { allocateOnHugePages, createNativeKernels, nativeSupport } from "../src/index.js";

const support = nativeSupport();
// Worker threads load no TypeScript: they take the built package.
const built = new URL("../dist/index.js", import.meta.url).href;

/** Runs a function's text in a worker, with the package's exports and `data`. */
async function inWorker(run: string, data: unknown): Promise<void> {
  const code = `
    const { workerData } = require("node:worker_threads");
    import(${JSON.stringify(built)}).then((kernels) => (${run})(kernels, workerData));`;
  const worker = new Worker(code, { eval: true, workerData: data });
  const [exitCode] = (await once(worker, "exit")) as [number];
  expect(exitCode).toBe(0);
}

/** Threads of this process, or none where the system doesn't say. */
function threadCount(): number {
  if (process.platform !== "linux") return 0;
  return Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

function megabytesHeld(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}

describe.skipIf(!support.available)("native kernels in several threads", () => {
  test("two workers train one model in shared memory at once", async () => {
    const features = 300;
    const units = 24;
    const classes = 90;
    const sizes = [features * units, units, classes * units, classes, 64, 64];
    const arrays = sizes.map((size) => allocateOnHugePages(size));
    for (const array of arrays) {
      for (let i = 0; i < array.length; i++) array[i] = Math.sin(i * 1.7) / 5;
    }
    const train = `({ createNativeKernels }, { arrays, own, features, units, classes }) => {
      const kernels = createNativeKernels({ threads: 2 });
      const [w1, b1, w2, b2] = arrays;
      const first = { inputs: features, outputs: units, weights: w1, bias: b1 };
      const last = { inputs: units, outputs: classes, weights: w2, bias: b2 };
      const rows = 64;
      const losses = arrays[4 + own];
      const count = Uint32Array.from({ length: rows + 1 }, (_, i) => i);
      const batch = kernels.upload({
        rows,
        offsets: count,
        indices: Uint32Array.from({ length: rows }, (_, i) => (2 * i + own) % features),
        values: new Float32Array(rows).fill(1),
        labelOffsets: count,
        labels: Uint32Array.from({ length: rows }, (_, i) => (2 * i + own) % 90),
      }, 0);
      for (let step = 0; step < 300; step++) {
        kernels.trainMicroBatches(batch, [first, last], "relu", "softmax", 4, 0.5, losses);
      }
      // Ends without dispose.
    }`;
    const shared = { arrays, features, units, classes };
    const before = threadCount();
    await Promise.all([0, 1].map((own) => inWorker(train, { ...shared, own })));
    const mean = (losses: Float32Array) => losses.reduce((a, b) => a + b, 0) / losses.length;
    // ln 90 = 4.5 at the start.
    expect(mean(arrays[4]!)).toBeLessThan(0.5);
    expect(mean(arrays[5]!)).toBeLessThan(0.5);
    expect(threadCount()).toBeLessThanOrEqual(before);
  });

  test("workers that end without dispose, even in a hurry, leave no threads behind", async () => {
    const before = threadCount();
    const leave = `({ createNativeKernels }) => {
      for (let i = 0; i < 5; i++) {
        const kernels = createNativeKernels({ threads: 3 });
        kernels.blend(new Float32Array(1000), []);
      }
      process.exit(0);
    }`;
    for (let i = 0; i < 5; i++) await inWorker(leave, {});
    expect(threadCount()).toBeLessThanOrEqual(before);
  });

  test("kernels that come and go leave neither threads nor memory behind", () => {
    const length = 2 ** 20;
    const target = allocateOnHugePages(length);
    const batch = {
      rows: 1,
      offsets: Uint32Array.of(0, length),
      indices: Uint32Array.from({ length }, (_, i) => i),
      values: target,
      labelOffsets: Uint32Array.of(0, 0),
      labels: new Uint32Array(0),
    };
    const cycle = () => {
      const kernels = createNativeKernels({ threads: 3 });
      kernels.upload(batch, 0);
      kernels.blend(target, [{ coefficient: 1, source: target }]);
      expect(kernels.workBytes()).toBeGreaterThan(8 * length);
      void kernels.dispose();
    };
    const threads = threadCount();
    for (let i = 0; i < 5; i++) cycle();
    const before = megabytesHeld();
    for (let i = 0; i < 40; i++) cycle();
    expect(threadCount()).toBe(threads);
    // Forty times 8 MiB would be 320.
    expect(megabytesHeld() - before).toBeLessThan(150);
  });
});
