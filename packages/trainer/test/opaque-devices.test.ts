/**
 * Devices that have their arrays to themselves, beside others and alone: whatever they do comes out as on
 * devices in shared memory, to the last bit.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { algorithms } from "@heterosgd/scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { evaluateModel, parseDevices, replay, train } from "../src/index.js";
import type { RunEvent, TrainOptions } from "../src/index.js";
import { listCheckpoints } from "../src/checkpoint/list-checkpoints.js";
import { openCheckpoint } from "../src/checkpoint/open-checkpoint.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { expectAllRowsOnce, expectReplayed, isType, runOf } from "./incidents.js";
import { mortalWorker, opaqueWorker, type Fate } from "./mortal.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { names, raceFree, small, smallPolicy } from "./small-algorithms.js";
import { devicesOf, evaluation, ofPolicy, options, shape } from "./small-run.js";

const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;
const adagrad = { name: "adagrad", epsilon: 1e-8 } as const;

/** Trains, and replays on the same kernels in shared memory: the parameters of both. */
async function both(changes: Partial<TrainOptions>) {
  const events: RunEvent[] = [];
  const all = options({ kernels: "plain", ...changes });
  const result = await train({ ...all, onEvent: (event) => events.push(event) });
  expect(result.reason).toBe("epochs");
  for (const { updates, kernels, lost } of result.devices) {
    expect(lost).toBeNull();
    expect(updates).toBeGreaterThan(0);
    expect(kernels).toMatch(/plain|wasm|native/);
  }
  const again = await replay({ ...all, devices: devicesOf(events), events: ofPolicy(events) });
  const { precision } = await evaluateModel({
    shape: all.shape,
    parameters: result.parameters,
    dataset: evaluation,
    devices: parseDevices("cpu"),
    kernels: "plain",
    workerUrl: mortalWorker(),
  });
  expect(precision).toEqual(result.metrics!.precision);
  return { trained: result.parameters, inShared: again };
}

/** Hogwild has no use for them: they step on no shared model. */
const able = names.filter((name) => name !== "hogwild");

describe.each(raceFree.filter((name) => able.includes(name)))("%s", (name) => {
  const policy = smallPolicy(name, { epochs: 2 });

  test.each([
    ["one of two devices", [1]],
    ["both devices", "all"],
  ] as const)("trains, merges and evaluates as in shared memory: %s", async (_, opaque) => {
    const { trained, inShared } = await both({
      devices: parseDevices(small[name]!.devices),
      policy,
      workerUrl: opaqueWorker(opaque),
    });
    expect(trained).toEqual(inShared);
  });
});

const stateful = able.filter(
  (name) => raceFree.includes(name) && algorithms[name]!.optimizer === "any",
);

test.each(stateful)("%s has its optimiser's state there too", async (name) => {
  const { trained, inShared } = await both({
    devices: parseDevices("cpu,cpu"),
    rule: name === "adaptive-sgd" ? adagrad : adam,
    policy: smallPolicy(name, { epochs: 2, rate: 0.01 }),
    shape: { ...shape, hidden: [12, 9] },
    workerUrl: opaqueWorker([0]),
  });
  expect(trained).toEqual(inShared);
});

describe.each(able.filter((name) => !raceFree.includes(name)))("%s", (name) => {
  test("comes to the same alone, where nobody is in the way", async () => {
    const { trained, inShared } = await both({
      devices: parseDevices("cpu:role=accelerator"),
      policy: smallPolicy(name, { epochs: 2 }),
      workerUrl: opaqueWorker("all"),
    });
    expect(trained).toEqual(inShared);
  });

  test("adds to the shared model beside hosts", async () => {
    const events: RunEvent[] = [];
    const result = await train(
      options({
        devices: parseDevices("cpu,cpu:role=accelerator"),
        policy: smallPolicy(name),
        workerUrl: opaqueWorker([1]),
        onEvent: (event) => events.push(event),
      }),
    );
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.6);
    expect(result.devices.every(({ updates }) => updates > 0)).toBe(true);
  });
});

test.each(["hogbatch", "adaptive-hogbatch"])(
  "%s puts an accelerator's copy in the shared model's place",
  async (name) => {
    const algorithm = algorithms[name]!;
    const { own, rate } = small[name]!;
    const policy = algorithm.create({
      epochs: 2,
      schedule: { kind: "constant", rate },
      own: { ...own, accelerate: "overwrite" },
    });
    const { trained, inShared } = await both({
      devices: parseDevices("cpu:role=accelerator"),
      policy,
      workerUrl: opaqueWorker("all"),
    });
    expect(trained).toEqual(inShared);
  },
);

test("a host of Hogwild can't be one, and the run says so", async () => {
  const failed = train(
    options({
      devices: parseDevices("cpu"),
      policy: smallPolicy("hogwild"),
      workerUrl: opaqueWorker("all"),
      deviceRetries: 0,
    }),
  );
  await expect(failed).rejects.toMatchObject({
    code: "NO_DEVICES",
    message: expect.stringContaining("is not on the device"),
  });
});

test.each(["wasm", "native"] as const)(
  "goes with %s kernels, whose merges read its models",
  async (kernels) => {
    const result = await train(
      options({
        kernels,
        devices: parseDevices("cpu,cpu"),
        policy: smallPolicy("easgd"),
        workerUrl: opaqueWorker([1]),
      }),
    );
    expect(result.devices).toMatchObject([{ lost: null }, { lost: null }]);
    expect(result.metrics!.precision[0]).toBeGreaterThan(0.6);
  },
);

describe("checkpoints", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function run(at: string, changes: Partial<TrainOptions>) {
    const events: RunEvent[] = [];
    const path = join(folder, at);
    const checkpoints = keepAll(path, events, undefined);
    const checkpointWorkerUrl = new URL("../dist/checkpoint.worker.js", import.meta.url);
    const all = options({ kernels: "plain", ...changes, checkpoints, checkpointWorkerUrl });
    const result = await train({ ...all, onEvent: (event) => events.push(event) });
    return {
      result,
      events,
      checkpoints: await openAll(path, { listCheckpoints, openCheckpoint }),
    };
  }

  test.each([
    ["easgd", adam, 0.01],
    ["crossbow", null, 0.5],
    ["abs-sgd", null, 2],
    ["elastic", adam, 0.01],
    ["async", null, small["async"]!.rate],
  ] as const)("%s goes on from one as it would have done", async (name, rule, rate) => {
    const setup = {
      devices: parseDevices("cpu"),
      rule,
      policy: smallPolicy(name, { epochs: 3, checkpointEvery: 5, rate }),
      workerUrl: opaqueWorker("all"),
    };
    const whole = await run(`${name}-whole`, setup);
    const middle = whole.checkpoints[whole.checkpoints.length >> 1]!;
    const again = await run(`${name}-again`, { ...setup, resume: middle });
    expect(again.events[0]).toMatchObject({ type: "resume", exact: true });
    const parts = [...whole.events.slice(0, middle.record.events!.lines), ...again.events];
    const replayed = await replay({
      ...options({ rule, policy: setup.policy }),
      devices: devicesOf(whole.events),
      events: ofPolicy(parts),
    });
    expect(new Float32Array(replayed)).toEqual(new Float32Array(again.result.parameters));
    // When ABS-SGD reduces is a matter of timing.
    const same = name === "abs-sgd" ? again : whole;
    expect(again.result.parameters).toEqual(same.result.parameters);
  });

  test("are gone on from on other kinds of devices", async () => {
    const policy = smallPolicy("easgd", { epochs: 3, checkpointEvery: 5 });
    const whole = await run("mixed", {
      devices: parseDevices("2*cpu"),
      policy,
      workerUrl: opaqueWorker([1]),
    });
    const middle = whole.checkpoints[1]!;
    for (const [i, workerUrl] of [opaqueWorker([0]), mortalWorker()].entries()) {
      const again = await run(`mixed-${i}`, {
        devices: parseDevices("3*cpu"),
        policy,
        workerUrl,
        resume: middle,
      });
      expect(again.result.reason).toBe("epochs");
      expect(again.result.rows).toBe(3000);
    }
  });
});

describe("lost devices", () => {
  const moments = [
    ["adaptive-sgd", "step", 3, "throw"],
    ["adaptive-sgd", "pull", 2, "exit after"],
    ["adaptive-sgd", "push", 2, "exit after"],
    ["abs-sgd", "accumulate", 4, "throw"],
    ["easgd", "blend", 3, "exit after"],
    ["easgd", "refresh", 2, "exit before"],
    ["crossbow", "refresh", 3, "throw"],
    ["async", "apply", 4, "throw"],
    ["hogbatch", "apply", 2, "exit before"],
    ["local", "evaluate", 2, "exit after"],
  ] as const;

  test.each(moments)("%s goes on if one is lost at %s %i (%s)", async (name, method, call, end) => {
    const fate: Fate = { devices: [1], method, call, end };
    const run = await runOf(name, {
      devices: parseDevices(name === "hogbatch" ? "cpu,cpu:role=accelerator" : "2*cpu"),
      kernels: "plain",
      workerUrl: opaqueWorker(name === "hogbatch" ? [1, 2] : "all", fate),
    });
    expect(run.result.reason).toBe("epochs");
    expect(run.events.filter(isType("lost"))).toMatchObject([{ device: 1, retry: 1 }]);
    expectAllRowsOnce(run);
    await expectReplayed(run, name);
  });

  test("the only one is opened anew and goes on", async () => {
    const fate: Fate = { devices: [0], method: "step", call: 5, end: "throw" };
    const run = await runOf("local", {
      devices: parseDevices("cpu"),
      rule: adam,
      kernels: "plain",
      workerUrl: opaqueWorker("all", fate),
    });
    expect(run.result.devices).toMatchObject([{ lost: /out of memory/ }, { lost: null }]);
    expectAllRowsOnce(run);
    await expectReplayed(run, "local");
  });
});

test("a model is evaluated there as anywhere, and the next one as well", async () => {
  const { parameters } = await train(
    options({ policy: smallPolicy("sync", { epochs: 2 }), workerUrl: mortalWorker() }),
  );
  const evaluate = (workerUrl: URL) =>
    evaluateModel({
      shape,
      parameters,
      dataset: evaluation,
      batchRows: 8,
      devices: parseDevices("2*cpu"),
      kernels: "plain",
      workerUrl,
    });
  expect(await evaluate(opaqueWorker([1]))).toEqual(await evaluate(mortalWorker()));
});
