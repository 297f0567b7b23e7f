import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { openclSupport } from "../src/index.js";
import { compileTime } from "./compile-time.js";

// In the main thread first, before workers look for devices.
const support = openclSupport();
// Worker threads load no TypeScript: they take the built package.
const built = new URL("../dist/index.js", import.meta.url).href;

function workerOf(run: string): Worker {
  const code = `
    const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(built)}).then(async (kernels) => {
      parentPort.postMessage(await (${run})(kernels));
    });`;
  return new Worker(code, { eval: true });
}

const add = `async ({ createGpuKernels }) => {
  const kernels = createGpuKernels({ technology: "opencl" });
  const [sum, one] = [kernels.allocate(5000), kernels.allocate(5000)];
  kernels.write(new Float32Array(5000).fill(1), one);
  for (let i = 0; i < 50; i++) {
    kernels.blend(sum, [{ coefficient: 1, source: sum }, { coefficient: 1, source: one }]);
    await kernels.read(kernels.view(sum, 0, 1), new Float32Array(1));
  }
  const host = new Float32Array(5000);
  await kernels.read(sum, host);
  END
  return host.every((value) => value === 50);
}`;

describe.skipIf(!support.available)("OpenCL in several threads", compileTime, () => {
  test("workers open and use a device at once, and end by themselves", async () => {
    const workers = [0, 1, 2].map(() => workerOf(add.replace("END", "await kernels.dispose();")));
    const ends = workers.map(async (worker) => {
      const [[message], [exitCode]] = (await Promise.all([
        once(worker, "message"),
        once(worker, "exit"),
      ])) as [[unknown], [number]];
      return { message, exitCode };
    });
    const clean = { message: true, exitCode: 0 };
    expect(await Promise.all(ends)).toEqual([clean, clean, clean]);
  });

  test("a worker that is ended with its device open harms no other", async () => {
    const idle = workerOf(add.replace("END", 'require("node:worker_threads").parentPort.ref();'));
    const [message] = (await once(idle, "message")) as [unknown];
    expect(message).toBe(true);
    await idle.terminate();
    const next = workerOf(add.replace("END", "await kernels.dispose();"));
    const exit = once(next, "exit");
    expect(await once(next, "message")).toEqual([true]);
    expect(await exit).toEqual([0]);
  });
});
