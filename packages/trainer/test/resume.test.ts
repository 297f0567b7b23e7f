/** Checkpoints of real devices: worker threads, and one more that writes. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { loadModel } from "@heterosgd/model/node";
import type { RunOptions } from "@heterosgd/scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDevices } from "../src/device/device-spec.js";
import type { Checkpoint, RunEvent, TrainOptions, TrainResult } from "../src/index.js";
import { keepAll, openAll } from "./all-checkpoints.js";
import { builtTrainer } from "./built.js";
import { mortalWorker } from "./mortal.js";
import { temporaryFolder } from "./random-checkpoint.js";
import { smallPolicy } from "./small-algorithms.js";
import { devicesOf, ofPolicy, options, policy } from "./small-run.js";

const { train, replay, listCheckpoints, openCheckpoint, latestCheckpoint } = await builtTrainer();
const { train: rows, shape, seed } = options();
const replayed = { train: rows, shape, rule: null, seed };

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Run {
  readonly result: TrainResult;
  readonly events: readonly RunEvent[];
  readonly checkpoints: readonly Checkpoint[];
}

async function run(
  at: string,
  { everySeconds, ...changes }: Partial<TrainOptions> & { readonly everySeconds?: number },
): Promise<Run> {
  const events: RunEvent[] = [];
  const path = join(folder, at);
  const result = await train(
    options({
      onEvent: (event) => events.push(event),
      checkpoints: keepAll(path, events, everySeconds),
      ...changes,
    }),
  );
  const checkpoints = await openAll(path, { listCheckpoints, openCheckpoint });
  return { result, events, checkpoints };
}

/** What was reported, apart from times. */
function reportsOf(events: readonly RunEvent[]): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.type === "evaluation") return [event.metrics];
    if (event.type === "merge") return [{ ...event, at: 0 }];
    if (event.type !== "round") return [];
    return [
      { ...event, at: 0, devices: event.devices.map((device) => ({ ...device, seconds: 0 })) },
    ];
  });
}

function rowCounts(events: readonly RunEvent[], epochs: number): Uint8Array {
  const times = new Uint8Array(epochs * 1000);
  for (const event of events) {
    if (event.type !== "done") continue;
    for (const { epoch, start, count } of event.rows) {
      for (let row = start; row < start + count; row++) times[epoch * 1000 + row]!++;
    }
  }
  return times;
}

const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;

const single = [
  ["adaptive-sgd", null, {}],
  ["hogwild", null, {}],
  ["async", null, {}],
  ["ssp", null, {}],
  ["lb-bsp", null, {}],
  ["local", adam, { rate: 0.01 }],
  ["sync", null, {}],
  ["elastic", adam, { rate: 0.01 }],
  ["easgd", adam, { rate: 0.01 }],
  ["crossbow", null, {}],
] as const;
/** These end as they go on; what a replica of EASGD has learned, say, goes into the centre then. */
const steady = single.filter(([name]) => ["sync", "elastic"].includes(name));

describe.each(single)("one device, by %s", (name, rule, rate) => {
  const devices = parseDevices("cpu");
  const by = (changes: Partial<RunOptions>) =>
    smallPolicy(name, { checkpointEvery: 5, ...rate, ...changes });

  test("goes on from the middle of an epoch as it would have done, to the last bit", async () => {
    const whole = await run(`${name}-whole`, { rule, devices, policy: by({}) });
    const middle = whole.checkpoints[whole.checkpoints.length >> 1]!;
    expect(middle.record.step).toBeGreaterThan(0);
    const again = await run(`${name}-again`, { rule, devices, policy: by({}), resume: middle });
    expect(again.events[0]).toMatchObject({ type: "resume", exact: true });
    expect(again.result.parameters).toEqual(whole.result.parameters);
    expect(reportsOf(again.events)).toEqual(
      reportsOf(whole.events.slice(middle.record.events!.lines)),
    );
    expect(again.result.rows).toBe(whole.result.rows);
    expect(again.result.metrics).toEqual(whole.result.metrics);
  });
});

describe.each(steady)("one device, by %s", (name, rule, rate) => {
  const devices = parseDevices("cpu");
  const by = (changes: Partial<RunOptions>) =>
    smallPolicy(name, { checkpointEvery: 5, ...rate, ...changes });

  test("half of the epochs and then the others equal all of them", async () => {
    const whole = await run(`${name}-four`, { rule, devices, policy: by({ epochs: 4 }) });
    const half = await run(`${name}-two`, { rule, devices, policy: by({ epochs: 2 }) });
    const resume = half.checkpoints.at(-1)!;
    const others = await run(`${name}-others`, {
      rule,
      devices,
      policy: by({ epochs: 4 }),
      resume,
    });
    expect(others.result.parameters).toEqual(whole.result.parameters);
    expect(rowCounts([...half.events, ...others.events], 4).every((count) => count === 1)).toBe(
      true,
    );
  });
});

test("goes on with more, fewer and other devices, every row trained once", async () => {
  const by = smallPolicy("sync", { checkpointEvery: 20 });
  const whole = await run("pair", { devices: parseDevices("cpu,cpu@0.6"), policy: by });
  const middle = whole.checkpoints[1]!;
  const before = whole.events.slice(0, middle.record.events!.lines);
  for (const [i, devices] of ["cpu", "cpu,cpu@0.9,cpu@0.5", "cpu@0.6,cpu"].entries()) {
    const again = await run(`pair-${i}`, {
      devices: parseDevices(devices),
      policy: by,
      resume: middle,
    });
    expect(again.events[0]).toMatchObject({
      type: "resume",
      exact: false,
      step: middle.record.step,
    });
    expect(rowCounts([...before, ...again.events], 4).every((count) => count === 1)).toBe(true);
    expect(again.result.rows).toBe(4000);
    expect(again.result.metrics!.precision[0]).toBeGreaterThan(0.4);
    // The whole story, on the devices of each part.
    const parameters = await replay({
      ...replayed,
      policy: by,
      devices: devicesOf(whole.events),
      events: ofPolicy([...before, ...again.events]),
    });
    expect(new Float32Array(parameters)).toEqual(new Float32Array(again.result.parameters));
  }
});

test("a run saves every so often and at its end, and keeps the newest and the best", async () => {
  const at = "often";
  const { events, result } = await run(at, {
    policy: smallPolicy("sync", { epochs: 40 }),
    checkpoints: { folder: join(folder, at), everySeconds: 0.02, keep: 2 },
  });
  const saved = events.filter((event) => event.type === "saved");
  expect(saved.length).toBeGreaterThan(1);
  const asked = events.filter((event) => event.type === "save");
  expect(asked.length).toBeGreaterThan(0);
  expect((await readdir(join(folder, at))).length).toBeLessThanOrEqual(3);
  const last = await latestCheckpoint(join(folder, at));
  const model = await loadModel(last.modelFile);
  expect(model.parameters).toEqual(new Float32Array(result.parameters));
  expect(last.record.metrics).toEqual(result.metrics);
});

test("a run whose checkpoints can't be written goes on, and says why", async () => {
  const events: RunEvent[] = [];
  const result = await train(
    options({
      policy: policy(),
      checkpoints: { folder: "/proc/checkpoints" },
      onEvent: (event) => events.push(event),
    }),
  );
  expect(result.reason).toBe("epochs");
  const [failure] = events.filter((event) => event.type === "not-saved");
  expect(failure!.reason).toContain("no folder can be made there");
});

test("a run whose thread that writes ends goes on, and says so", async () => {
  const events: RunEvent[] = [];
  const result = await train(
    options({
      policy: smallPolicy("sync"),
      checkpoints: { folder: join(folder, "dead") },
      checkpointWorkerUrl: new URL("data:text/javascript,process.exit(3)"),
      onEvent: (event) => events.push(event),
    }),
  );
  expect(result.reason).toBe("epochs");
  const [failure] = events.filter((event) => event.type === "not-saved");
  expect(failure!.reason).toContain("the thread that writes has ended (exit code 3)");
});

test.each([
  ["before it copies its part", "2*cpu", "exit before"],
  ["after it has copied its part", "2*cpu", "exit after"],
  ["before it copies, as the only one", "cpu", "exit before"],
] as const)(
  "of a device that ends %s, the others' checkpoint is whole",
  async (_, devices, end) => {
    const at = `mortal-${devices}-${end}`;
    const by = smallPolicy("sync", { epochs: 2, checkpointEvery: 10 });
    const { events, checkpoints, result } = await run(at, {
      devices: parseDevices(devices),
      policy: by,
      workerUrl: mortalWorker({ devices: [0], method: "copy", call: 1, end }),
      retryDelayMs: 0,
    });
    expect(result.reason).toBe("epochs");
    expect(events.some((event) => event.type === "lost" && event.device === 0)).toBe(true);
    expect(events.filter((event) => event.type === "not-saved")).toEqual([]);
    const [first] = checkpoints as [Checkpoint];
    // What the checkpoint holds is what the replay has come to by then.
    const replayedPart = events.slice(0, first.record.events!.lines);
    const again = await run(`${at}-again`, {
      policy: by,
      devices: parseDevices("cpu"),
      resume: first,
    });
    const parameters = await replay({
      ...replayed,
      policy: by,
      devices: devicesOf(events),
      events: ofPolicy([...replayedPart, ...again.events]),
    });
    expect(new Float32Array(parameters)).toEqual(new Float32Array(again.result.parameters));
  },
);

test("options that can't be are refused before anything is opened", async () => {
  const bad = (checkpoints: object) =>
    expect(train(options({ checkpoints: { folder, ...checkpoints } }))).rejects.toMatchObject({
      code: "BAD_OPTION",
    });
  await bad({ keep: 0 });
  await bad({ everySeconds: 0 });
});
