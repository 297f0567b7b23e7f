/** gpu.js in Node: in threads, in processes, and where it can't be had. On what was built. */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { skipped } from "./gpujs.js";

// Worker threads and processes load no TypeScript.
const built = new URL("../dist/index.js", import.meta.url).href;
type BuiltPackage = typeof import("../src/index.js");
const { gpujsSupport, openGpujsKernels } = (await import(built)) as BuiltPackage;

const noGl = skipped.headlessgl;
const limits = { timeout: 180_000 } as const;

/** Lines of code in which `kernels` is the built package. */
const inNode = (code: string): string =>
  `import(${JSON.stringify(built)}).then(async (kernels) => {${code}});`;

/** Adds up on the device, closes it, and lets the thread end by itself. */
const cycle = inNode(`
  const { parentPort } = await import("node:worker_threads");
  const own = await kernels.openGpujsKernels({ mode: "headlessgl" });
  const sum = own.allocate(4);
  const layer = { inputs: 2, outputs: 2, weights: own.allocate(4), bias: own.allocate(2) };
  own.write(Float32Array.of(1, 2, 3, 4), layer.weights);
  own.write(Float32Array.of(10, 20), layer.bias);
  const input = own.allocate(4);
  own.write(Float32Array.of(1, 1, 2, 0), input);
  own.dense(2, input, layer, "relu", sum);
  const host = new Float32Array(4);
  await own.read(sum, host);
  await own.dispose();
  parentPort.postMessage([own.name, ...host]);
`);

describe(`gpu.js on headless-gl${noGl}`, limits, () => {
  test.skipIf(noGl !== "")("is opened and closed ten times in two workers at once", async () => {
    const run = async () => {
      const worker = new Worker(cycle, { eval: true });
      const [[said], [code]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
      return { said: said as unknown, code: code as unknown };
    };
    const clean = { said: ["gpujs-headlessgl", 13, 27, 12, 26], code: 0 };
    for (let i = 0; i < 5; i++) expect(await Promise.all([run(), run()])).toEqual([clean, clean]);
  });

  test.skipIf(noGl !== "")("names the renderer, and whether it is a GPU", async () => {
    const { devices } = await gpujsSupport();
    const [first] = devices;
    expect(first).toMatchObject({ technology: "gpujs", mode: "headlessgl" });
    const isSoftware = /llvmpipe|softpipe|swrast/iu.test(first!.name);
    expect(first!.kind).toBe(isSoftware ? "cpu" : "gpu");
  });

  test("says what is missing where there is no display", async () => {
    const env: NodeJS.ProcessEnv = { ...process.env };
    delete env["DISPLAY"];
    const code = inNode(`
      const { lacking } = await kernels.gpujsSupport();
      const error = await kernels.openGpujsKernels({ mode: "headlessgl" }).catch((one) => one);
      process.stdout.write(JSON.stringify({ lacking, code: error.code, message: error.message }));
    `);
    const child = spawn(process.execPath, ["-e", code], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(child, "close");
    const said = JSON.parse(text) as {
      lacking: { mode: string; reason: string; remedy: string }[];
      code: string;
      message: string;
    };
    const [lack] = said.lacking;
    expect(lack!.mode).toBe("headlessgl");
    expect(said.code).toBe("GPU_UNAVAILABLE");
    expect(said.message).toBe(`gpu.js on headlessgl: ${lack!.reason}; ${lack!.remedy}`);
    const noDisplay = ["there is no display, which headless-gl needs", true];
    const isTold = /xvfb-run -a/u.test(lack!.remedy);
    expect(noGl === "" ? [lack!.reason, isTold] : noDisplay).toEqual(noDisplay);
  });
});

describe("gpu.js in a process of its own", limits, () => {
  test("computes, and says what is wrong at the next reading", async () => {
    const kernels = await openGpujsKernels({ mode: "cpu", isolation: "process" });
    expect([kernels.name, kernels.mode, kernels.device]).toEqual([
      "gpujs-cpu",
      "cpu",
      "JavaScript",
    ]);
    const array = kernels.allocate(6);
    kernels.write(Float32Array.of(1, 2, 3, 4, 5, 6), array);
    const part = kernels.view(kernels.view(array, 1, 4), 1, 2);
    kernels.blend(part, [{ coefficient: 2, source: part }]);
    const host = new Float32Array(6);
    await kernels.read(array, host);
    expect([...host]).toEqual([1, 2, 6, 8, 5, 6]);

    const layer = { inputs: 3, outputs: 1, weights: array, bias: part };
    kernels.dense(1, array, layer, "relu", part);
    kernels.blend(array, []);
    await expect(kernels.read(array, host)).rejects.toMatchObject({
      code: "KERNEL_ARRAY",
      message: "dense: layer.weights has 6 elements, expected 3",
    });
    // What came after it was left out, and it is told once.
    await kernels.read(array, host);
    expect([...host]).toEqual([1, 2, 6, 8, 5, 6]);
    await kernels.dispose();
    expect(() => kernels.allocate(1)).toThrow(expect.objectContaining({ code: "KERNEL_DISPOSED" }));
  });

  test("trains and ranks like the same kernels in this process", async () => {
    const rows = {
      rows: 2,
      offsets: Uint32Array.of(0, 2, 3),
      indices: Uint32Array.of(0, 1, 2),
      values: Float32Array.of(1, -1, 0.5),
      labelOffsets: Uint32Array.of(0, 1, 2),
      labels: Uint32Array.of(3, 1),
    };
    const results = await Promise.all(
      (["thread", "process"] as const).map(async (isolation) => {
        const kernels = await openGpujsKernels({ mode: "cpu", isolation });
        const first = {
          inputs: 3,
          outputs: 2,
          weights: kernels.allocate(6),
          bias: kernels.allocate(2),
        };
        const last = {
          inputs: 2,
          outputs: 4,
          weights: kernels.allocate(8),
          bias: kernels.allocate(4),
        };
        kernels.write(Float32Array.of(1, 2, 3, 4, 5, 6), first.weights);
        kernels.write(Float32Array.of(1, 0, -1, 1, 0, 2, 1, 1), last.weights);
        const [hidden, back, losses] = [4, 4, 2].map((length) => kernels.allocate(length));
        const batch = kernels.upload(rows, 0);
        const target = (layer: typeof first) =>
          ({ kind: "add", target: layer, scale: -0.1 }) as const;
        kernels.gather(batch, first, "tanh", hidden!);
        kernels.output(batch, hidden!, last, "softmax", target(last), back!, losses!);
        kernels.scatter(batch, first, "tanh", hidden!, back!, target(first));
        const weights = new Float32Array(6);
        await kernels.read(first.weights, weights);
        const ids = new Uint32Array(4);
        await kernels.topK(2, hidden!, last, 2, ids, new Float32Array(4), new Float32Array(2));
        await kernels.dispose();
        return { weights, ids };
      }),
    );
    expect(results[1]).toEqual(results[0]);
    expect(results[0]!.weights[0]).not.toBe(1);
  });

  test("is a lost device when it ends, and nothing else", async () => {
    const kernels = await openGpujsKernels({ mode: "cpu", isolation: "process" });
    const array = kernels.allocate(3);
    const host = new Float32Array(3);
    await kernels.read(array, host);
    // Of this process's children, the one that serves.
    const list = spawn("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)]);
    let text = "";
    list.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(list, "close");
    const own = text.split("\n").filter((line) => line.includes("gpujs-process"));
    expect(own).toHaveLength(1);
    const reading = kernels.read(array, host);
    process.kill(Number.parseInt(own[0]!, 10), "SIGSEGV");
    // It may have been answered before.
    await expect(
      Promise.resolve(reading).then(() => kernels.read(array, host)),
    ).rejects.toMatchObject({
      code: "GPU_LOST",
      message: "the process of gpu.js was ended by SIGSEGV",
    });
    expect(() => kernels.write(host, array)).toThrow(expect.objectContaining({ code: "GPU_LOST" }));
    await expect(kernels.dispose()).rejects.toMatchObject({ code: "GPU_LOST" });
    const again = await openGpujsKernels({ mode: "cpu", isolation: "process" });
    await again.dispose();
  });

  test("ends with the process that opened it", async () => {
    const entry = new URL("../dist/gpujs-process.js", import.meta.url);
    const child = fork(entry, [], { serialization: "advanced", execArgv: [] });
    child.disconnect();
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
