/**
 * Devices on GPU kernels in runs: OpenCL's first device, which may be a processor, and CUDA on a stand-in
 * for its driver. No GPU is needed, and none is tried.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createGpuKernels } from "@heterosgd/gpu-kernels";
import { algorithms, countRows } from "@heterosgd/scheduler";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { builtTrainer } from "./built.js";
import { isType } from "./incidents.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { small, smallPolicy } from "./small-algorithms.js";
import { devicesOf, evaluation, ofPolicy, options, recorded, shape } from "./small-run.js";
import type { RunEvent, TrainOptions } from "../src/index.js";

const {
  chooseKernels,
  estimateMemory,
  evaluateModel,
  listCheckpoints,
  openCheckpoint,
  parseDevices,
  predict,
  replay,
  train,
} = await builtTrainer();

const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

beforeAll(() => {
  if (cudaStandIn !== null) process.env["HETEROSGD_CUDA_LIBRARY"] = cudaStandIn.library;
});

/** Of the stand-in; afterwards all is as it was, and nothing is left there. */
function cleanUp(): void {
  cudaStandIn?.control.reset();
  expect(cudaStandIn?.control.contexts ?? 0).toBe(0);
  expect(cudaStandIn?.control.bytes ?? 0).toBe(0);
}

async function expectReplayed(
  changes: Partial<TrainOptions>,
  events: readonly RunEvent[],
  parameters: Float32Array,
): Promise<void> {
  const devices = devicesOf(events);
  const again = await replay({ ...options(changes), devices, events: ofPolicy(events) });
  expect(again).toEqual(parameters);
}

describe.skipIf(skipped.cuda + skipped.opencl !== "")(
  `native processors, OpenCL and CUDA in one run${skipped.cuda}${skipped.opencl}`,
  () => {
    afterEach(cleanUp);

    test.each(["adaptive-sgd", "abs-sgd", "hogbatch", "adaptive-hogbatch"])(
      "%s has work for each of them, and learns",
      async (name) => {
        const changes = {
          devices: parseDevices("cpu@0.2,opencl,cuda"),
          policy: smallPolicy(name),
        };
        const { result, events } = await recorded(changes);
        expect(result.reason).toBe("epochs");
        expect(result.devices).toMatchObject([
          { name: "device 0 (cpu@0.2)", lost: null },
          { name: "device 1 (opencl)", kernels: "opencl", lost: null },
          { name: "device 2 (cuda)", kernels: "cuda", lost: null },
        ]);
        for (const { updates, rows } of result.devices) {
          expect(updates).toBeGreaterThan(0);
          expect(rows).toBeGreaterThan(0);
        }
        expect(result.metrics!.precision[0]).toBeGreaterThan(0.6);
        if (!algorithms[name]!.races) await expectReplayed(changes, events, result.parameters);
      },
    );

    // Enough epochs that both come to the end of what can be learnt, however few updates a busy machine makes.
    test.each([
      ["merge", "adaptive-sgd", 6],
      ["round", "abs-sgd", 24],
    ] as const)(
      "every %s of %s has a part of each, and comes to what processors come to",
      async (report, name, epochs) => {
        const policy = smallPolicy(name, { epochs });
        const { result, events } = await recorded({
          devices: parseDevices("cpu@0.2,opencl,cuda"),
          policy,
        });
        const reports = events.filter(isType(report));
        expect(reports.length).toBeGreaterThan(epochs);
        // The last round of ABS-SGD is of whatever rows are left, perhaps one micro-batch.
        for (const { devices } of name === "abs-sgd" ? reports.slice(0, -1) : reports) {
          expect(devices).toHaveLength(3);
          for (const { updates, weight } of devices) {
            expect(updates).toBeGreaterThan(0);
            expect(weight).toBeGreaterThan(0);
          }
        }
        const processors = await train(options({ devices: parseDevices("cpu"), policy }));
        const [mixed, alone] = [result.metrics!.precision[0]!, processors.metrics!.precision[0]!];
        expect(mixed).toBeGreaterThan(alone - 0.01);
      },
    );

    test.each(["hogbatch", "adaptive-hogbatch"])(
      "%s comes to what processors come to",
      async (name) => {
        const policy = smallPolicy(name, { epochs: 12 });
        const precisionOf = async (devices: string) => {
          const { metrics } = await train(options({ devices: parseDevices(devices), policy }));
          return metrics!.precision[0]!;
        };
        const alone = await precisionOf("cpu,2*cpu:role=accelerator");
        expect(await precisionOf("cpu@0.2,opencl,cuda")).toBeGreaterThan(alone - 0.01);
      },
    );

    test("a run goes on from a checkpoint on other devices, and is replayed over both parts", async () => {
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
        const first = await run("first", { devices: parseDevices("opencl,cuda") });
        const [, middle] = await openAll(join(folder, "first"), {
          listCheckpoints,
          openCheckpoint,
        });
        const kept = first.events.slice(0, middle!.record.events!.lines);
        for (const [i, devices] of ["opencl,cuda", "cpu,opencl"].entries()) {
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

    test("a model is evaluated as on processors", async () => {
      const { parameters } = await train(
        options({ devices: parseDevices("cpu"), policy: smallPolicy("sync", { epochs: 2 }) }),
      );
      const model = { shape, parameters, dataset: evaluation };
      const evaluate = (devices: string) =>
        evaluateModel({ ...model, batchRows: 16, devices: parseDevices(devices) });
      const [alone, mixed] = [await evaluate("cpu"), await evaluate("opencl,cuda,cpu")];
      expect(mixed.precision).toEqual(alone.precision);
      const first = await predict({ ...model, k: 1 }).next();
      expect(first.value).toHaveLength(1);
    });
  },
);

describe.skipIf(skipped.cuda !== "")(`CUDA on a stand-in${skipped.cuda}`, () => {
  const { control } = cudaStandIn ?? (undefined as never);
  const devices = parseDevices("cpu,cuda");
  const policy = smallPolicy("local", { epochs: 3 });
  afterEach(cleanUp);

  test.each([
    ["a kernel fails", "cuLaunchKernel@300=700", /failed: .*CUDA_ERROR_ILLEGAL_ADDRESS/],
    ["the driver refuses a call", "cuLaunchKernel@300=1", /failed: .*CUDA_ERROR_INVALID_VALUE/],
  ])("a device is opened anew where %s", async (_, fault, reason) => {
    let isOpen = false;
    const { result, events } = await recorded({
      devices,
      policy,
      retryDelayMs: 1,
      onReady() {
        isOpen = true;
        control.set("FAIL", fault);
      },
    });
    expect(isOpen).toBe(true);
    expect(result.reason).toBe("epochs");
    expect(events.filter(isType("lost"))).toMatchObject([
      { device: 1, reason: expect.stringMatching(reason), retry: 1 },
    ]);
    await expectReplayed({ devices, policy }, events, result.parameters);
  });

  test("the code and name of what the driver said end a run that has no other device", async () => {
    const failed = train(
      options({
        devices: parseDevices("cuda"),
        policy,
        deviceRetries: 0,
        onReady: () => control.set("FAIL", "cuLaunchKernel@300=719"),
      }),
    );
    await expect(failed).rejects.toMatchObject({
      code: "NO_DEVICES",
      cause: { code: "DEVICE_FAILED", cause: { name: "GpuKernelsError", code: "GPU_LOST" } },
    });
  });

  test("memory that runs out in spite of the estimate is told with both numbers", async () => {
    control.set("FAIL", "cuMemAlloc_v2@3=2");
    const failed = train(options({ devices, policy }));
    await expect(failed).rejects.toMatchObject({
      name: "GpuKernelsError",
      code: "GPU_MEMORY",
      message: expect.stringMatching(/Stand-in 0.*/),
    });
  });

  test("batches are as large as its memory has room for", async () => {
    const changes = {
      devices,
      policy: smallPolicy("sync", { epochs: 1 }),
      shape: { ...shape, hidden: [512] },
      evaluation: null,
    };
    const estimated = (memory: number, require = false) => {
      control.set("MEMORY", String(memory));
      const all = { ...options(changes), require, held: { now: 0, peak: 0 } };
      return estimateMemory(all).devices.map(({ own }) => own);
    };
    const [processor, plenty] = estimated(2 ** 30);
    expect(processor).toBeNull();
    expect(plenty).toMatchObject({ room: Math.floor(0.9 * 2 ** 30), loweredTo: null });
    const scarce = Math.ceil((plenty!.bytes - 20_000) / 0.9);
    const [, lowered] = estimated(scarce);
    const rows = lowered!.loweredTo!;
    expect(rows).toBeLessThan(16);
    expect(rows).toBeGreaterThanOrEqual(1);
    expect(lowered!.bytes).toBeLessThanOrEqual(lowered!.room!);
    const memory = (message: RegExp) =>
      expect.objectContaining({ code: "DEVICE_MEMORY", message: expect.stringMatching(message) });
    expect(() => estimated(scarce, true)).toThrow(
      memory(/cuda \(Stand-in 0\) has .* but batches of 16 rows need/),
    );
    expect(() => estimated(10_000)).toThrow(
      memory(
        /has 0\.0 MiB for a run, of 0\.0 MiB that are free and 0\.0 MiB in all, but this one needs 0\.\d MiB there: take smaller/,
      ),
    );
    control.set("MEMORY", String(scarce));
    const { result, events } = await recorded(changes);
    expect(result.rows).toBe(1000);
    const batches = events
      .filter(isType("done"))
      .filter(({ device }) => device === 1)
      .map((done) => countRows(done.rows));
    expect(Math.max(...batches)).toBe(rows);
    // The same one twice has half of it each.
    control.set("MEMORY", String(2 ** 24));
    const twice = {
      ...options({ devices: parseDevices("2*cuda"), policy }),
      held: { now: 0, peak: 0 },
    };
    expect(estimateMemory(twice).devices[1]!.own!.room).toBe(Math.floor(0.45 * 2 ** 24));
    // What others have taken is nobody's.
    const others = createGpuKernels({ technology: "cuda" });
    try {
      others.allocate(2 ** 21);
      expect(estimateMemory(twice).devices[0]!.own!.room).toBe(Math.floor(0.45 * 2 ** 23));
      others.allocate(2 ** 21 - 2 ** 9);
      const full = /of 0\.0 MiB that are free and 16\.0 MiB in all, but this one needs/;
      expect(() => estimateMemory(twice)).toThrow(memory(full));
    } finally {
      await others.dispose();
    }
    expect(estimateMemory(twice).devices[0]!.own!.room).toBe(Math.floor(0.45 * 2 ** 24));
  });

  test("a device that is not there is refused, with those that are", () => {
    control.set("DEVICES", "2");
    const [host] = chooseKernels(parseDevices("cpu")).devices;
    expect(chooseKernels(parseDevices("cuda,cuda:1")).devices).toEqual([
      { name: "cuda", index: 0, device: "Stand-in 0", host },
      { name: "cuda", index: 1, device: "Stand-in 1", host },
    ]);
    expect(() => chooseKernels(parseDevices("cuda:2"))).toThrow(
      expect.objectContaining({
        code: "KERNELS_UNAVAILABLE",
        message: expect.stringMatching(
          /"cuda:2" can't be had: CUDA has 2 devices here; name one of them: cuda:0 is Stand-in 0 \(gpu\), cuda:1/,
        ),
      }),
    );
    control.set("DEVICES", "0");
    expect(() => chooseKernels(parseDevices("cuda"))).toThrow(/CUDA_ERROR_NO_DEVICE/);
  });
});

test("each algorithm of the mixed runs is one that accelerators have a part in", () => {
  for (const name of ["hogbatch", "adaptive-hogbatch"]) {
    expect(algorithms[name]!.roles).toContain("accelerator");
    expect(small[name]!.devices).toContain("accelerator");
  }
});
