/**
 * Devices on gpu.js in runs: WebGL by headless-gl, which software draws where there is no GPU, beside OpenCL's first
 * device and CUDA on a stand-in for its driver.
 */
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { algorithms } from "@heterosgd/scheduler";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { withoutGpujs } from "../../../test-support/gpujs.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { builtTrainer } from "./built.js";
import { isType } from "./incidents.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { smallPolicy } from "./small-algorithms.js";
import { devicesOf, evaluation, ofPolicy, options, recorded, shape } from "./small-run.js";
import type { RunEvent, TrainOptions } from "../src/index.js";

const {
  estimateMemory,
  evaluateModel,
  gpujsSupport,
  listCheckpoints,
  openCheckpoint,
  parseDevices,
  replay,
  train,
} = await builtTrainer();

const withoutGl = withoutGpujs("headlessgl");
const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

// Each device compiles its shaders, and software draws: tens of seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000 });

beforeAll(() => {
  if (cudaStandIn !== null) process.env["HETEROSGD_CUDA_LIBRARY"] = cudaStandIn.library;
});

async function expectReplayed(
  changes: Partial<TrainOptions>,
  events: readonly RunEvent[],
  parameters: Float32Array,
): Promise<void> {
  const devices = devicesOf(events);
  const again = await replay({ ...options(changes), devices, events: ofPolicy(events) });
  expect(again).toEqual(parameters);
}

describe.skipIf(withoutGl + skipped.cuda + skipped.opencl !== "")(
  `native processors, gpu.js on headless-gl, OpenCL and CUDA in one run${withoutGl}${skipped.cuda}${skipped.opencl}`,
  () => {
    afterEach(() => {
      cudaStandIn!.control.reset();
    });

    test("every merge of Adaptive SGD has a part of each, and it is replayed to the last bit", async () => {
      const changes = {
        devices: parseDevices("cpu@0.2,gpujs,opencl,cuda"),
        policy: smallPolicy("adaptive-sgd", { epochs: 6 }),
      };
      const { result, events } = await recorded(changes);
      expect(result.reason).toBe("epochs");
      expect(result.devices).toMatchObject([
        { name: "device 0 (cpu@0.2)", lost: null },
        { name: "device 1 (gpujs:headlessgl)", kernels: "gpujs-headlessgl", lost: null },
        { name: "device 2 (opencl)", lost: null },
        { name: "device 3 (cuda)", lost: null },
      ]);
      const merges = events.filter(isType("merge"));
      expect(merges.length).toBeGreaterThan(10);
      for (const { devices } of merges) {
        expect(devices).toHaveLength(4);
        for (const { updates, weight } of devices) {
          expect(updates).toBeGreaterThan(0);
          expect(weight).toBeGreaterThan(0);
        }
      }
      const alone = await train(options({ ...changes, devices: parseDevices("cpu") }));
      const [mixed, processor] = [result.metrics!.precision[0]!, alone.metrics!.precision[0]!];
      expect(mixed).toBeGreaterThan(processor - 0.02);
      await expectReplayed(changes, events, result.parameters);
    });
  },
);

/** Those that have work for an accelerator. */
const accelerated = Object.keys(algorithms).filter((name) => {
  const { roles } = algorithms[name]!;
  return roles.length === 0 || roles.includes("accelerator");
});

describe("gpu.js without a GPU, in threads and in processes", () => {
  test.each(accelerated)("%s has work for it beside a processor, and is replayed", async (name) => {
    const changes = {
      devices: parseDevices("cpu@0.1,gpujs:cpu"),
      policy: smallPolicy(name, { epochs: 1 }),
    };
    const { result, events } = await recorded(changes);
    expect(result.reason).toBe("epochs");
    const [, gpujs] = result.devices;
    expect(gpujs).toMatchObject({
      name: "device 1 (gpujs:cpu)",
      kernels: "gpujs-cpu",
      lost: null,
    });
    expect(gpujs!.updates).toBeGreaterThan(0);
    if (!algorithms[name]!.races) await expectReplayed(changes, events, result.parameters);
  });

  test("WebAssembly computes where it is named, and the record says so", async () => {
    const { result, events } = await recorded({
      devices: parseDevices("gpujs:webasm,gpujs:webasm:process"),
      policy: smallPolicy("local", { epochs: 1 }),
    });
    expect(result.devices.map(({ kernels }) => kernels)).toEqual(["gpujs-webasm", "gpujs-webasm"]);
    expect(devicesOf(events)).toMatchObject([
      { runs: { name: "gpujs", mode: "webasm", isolation: "thread" } },
      { runs: { name: "gpujs", mode: "webasm", isolation: "process" } },
    ]);
  });

  test("a run goes on from a checkpoint, exactly on the same devices, and on others", async () => {
    const folder = await temporaryFolder();
    try {
      const policy = smallPolicy("easgd", { epochs: 2, checkpointEvery: 5, rate: 0.01 });
      const run = async (at: string, changes: Partial<TrainOptions>) => {
        const events: RunEvent[] = [];
        const all = options({
          policy,
          rule: adam,
          ...changes,
          checkpoints: keepAll(join(folder, at), events, undefined),
        });
        const result = await train({ ...all, onEvent: (event) => events.push(event) });
        return { all, events, result };
      };
      const first = await run("first", { devices: parseDevices("gpujs:cpu,cpu") });
      const [, middle] = await openAll(join(folder, "first"), { listCheckpoints, openCheckpoint });
      const kept = first.events.slice(0, middle!.record.events!.lines);
      for (const [i, devices] of ["gpujs:cpu,cpu", "gpujs:cpu:process"].entries()) {
        const second = await run(`second-${i}`, {
          devices: parseDevices(devices),
          resume: middle!,
        });
        expect(second.events[0]).toMatchObject({ type: "resume", exact: i === 0 });
        const replayed = await replay({
          ...second.all,
          devices: devicesOf(first.events),
          events: ofPolicy([...kept, ...second.events]),
        });
        expect(new Float32Array(replayed)).toEqual(new Float32Array(second.result.parameters));
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Processes of gpu.js that this one has started. */
function ownProcesses(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, parent] = /\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return Number(parent) === process.pid && command.includes("gpujs-process");
      } catch {
        // It has ended meanwhile.
        return false;
      }
    })
    .map(Number);
}

describe.skipIf(process.platform !== "linux")("a process of gpu.js", () => {
  test("that crashes is a lost device: it is opened anew, and each row counts once", async () => {
    const changes = {
      devices: parseDevices("cpu@0.01,gpujs:cpu:process"),
      policy: smallPolicy("local", { epochs: 4 }),
    };
    let killed: readonly number[] = [];
    const { result, events } = await recorded({
      ...changes,
      retryDelayMs: 1,
      onReady() {
        killed = ownProcesses();
        for (const pid of killed) process.kill(pid, "SIGSEGV");
      },
    });
    expect(killed).toHaveLength(1);
    expect(result.reason).toBe("epochs");
    expect(result.rows).toBe(4000);
    expect(events.filter(isType("lost"))).toMatchObject([
      { device: 1, reason: expect.stringMatching(/failed: .*was ended by SIGSEGV/), retry: 1 },
    ]);
    const [joined] = events.filter(isType("joined"));
    expect(joined).toMatchObject({
      kernels: "gpujs-cpu",
      replaces: { device: 1, retry: 1 },
      runs: { name: "gpujs", isolation: "process" },
    });
    await expectReplayed(changes, events, result.parameters);
    await vi.waitFor(() => expect(ownProcesses()).toEqual([]), 10_000);
  });

  test("that crashes ends a run without another device, with its error", async () => {
    const failed = train(
      options({
        devices: parseDevices("gpujs:cpu:process"),
        policy: smallPolicy("local"),
        deviceRetries: 0,
        onReady() {
          for (const pid of ownProcesses()) process.kill(pid, "SIGKILL");
        },
      }),
    );
    await expect(failed).rejects.toMatchObject({
      code: "NO_DEVICES",
      cause: { code: "DEVICE_FAILED", cause: { name: "GpuKernelsError", code: "GPU_LOST" } },
    });
  });
});

describe.skipIf(withoutGl !== "")(`gpu.js on headless-gl${withoutGl}`, () => {
  test("trains on two devices in threads and one in a process at once, and evaluates on them", async () => {
    const changes = {
      devices: parseDevices("2*gpujs,gpujs:process"),
      policy: smallPolicy("elastic", { epochs: 1, rate: 0.01 }),
      rule: adam,
    };
    const { result, events } = await recorded(changes);
    expect(result.reason).toBe("epochs");
    for (const { kernels, lost, updates } of result.devices) {
      expect({ kernels, lost }).toEqual({ kernels: "gpujs-headlessgl", lost: null });
      expect(updates).toBeGreaterThan(0);
    }
    const drawing = devicesOf(events).map(({ runs }) => runs);
    expect(new Set(drawing.map((runs) => (runs as { device: string }).device)).size).toBe(1);
    const model = { shape, parameters: result.parameters, dataset: evaluation, batchRows: 16 };
    const [alone, mixed] = [
      await evaluateModel({ ...model, devices: parseDevices("cpu") }),
      await evaluateModel({ ...model, devices: parseDevices("gpujs,cpu") }),
    ];
    expect(mixed.precision).toEqual(alone.precision);
  });

  test("devices that can't be opened, or are told to end while they are opened, leave the process alive", async () => {
    const policy = smallPolicy("local", { epochs: 1 });
    const failed = train(
      options({ devices: parseDevices("gpujs,cpu:3"), kernels: "plain", policy }),
    );
    await expect(failed).rejects.toMatchObject({ code: "DEVICE_SPEC" });
    const { result } = await recorded({
      devices: parseDevices("cpu"),
      policy,
      onReady: (control) => void control.add(parseDevices("gpujs")[0]!).catch(() => undefined),
    });
    expect(result.reason).toBe("epochs");
  });
});

test("what it takes of memory is told, counted with the process's, and in no known room", async () => {
  const gpujs = await gpujsSupport();
  const estimate = (devices: string) =>
    estimateMemory({
      ...options({ devices: parseDevices(devices), policy: smallPolicy("sync") }),
      gpujs,
      held: { now: 0, peak: 0 },
    }).devices[0]!;
  const [own, processor] = [estimate("gpujs:cpu"), estimate("cpu")];
  expect(own.own).toMatchObject({ room: null, loweredTo: null });
  // A replica and a model that is evaluated.
  const models = 2 * 4 * (40 * 16 + 16 + 16 * 10 + 10);
  expect(own.own!.bytes).toBeGreaterThan(models);
  expect(own.work).toBeGreaterThan(own.own!.bytes);
  const apart = estimate("gpujs:cpu:process");
  expect(apart.own).toEqual(own.own);
  expect(apart.work - own.work).toBe(110 * 2 ** 20);
  expect(processor.own).toBeNull();
});
