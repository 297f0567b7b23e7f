import { normalizedMerge } from "@heterosgd/merge";
import { adaptiveSgd, type RowRange } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import {
  evaluateModel,
  parseDevices,
  predict,
  replay,
  salvageOf,
  train,
  type RunEvent,
  type TrainOptions,
} from "../src/index.js";
import { mortalWorker, type Fate } from "./mortal.js";
import { devicesOf, ofPolicy, shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const ROWS = 400;
const EPOCHS = 3;
const rows = syntheticRows(ROWS);
const evaluation = syntheticRows(100, { seed: 2 });

const options = (changes: Partial<TrainOptions> = {}): TrainOptions => ({
  train: rows,
  evaluation,
  shape,
  rule: null,
  devices: parseDevices("3*cpu"),
  policy: adaptiveSgd({
    epochs: EPOCHS,
    schedule: { kind: "constant", rate: 1 },
    merge: normalizedMerge({ momentum: 0.5, perturbation: 0.1, normThreshold: 1 }),
    batch: { max: 16 },
  }),
  seed: 1,
  ...changes,
});

async function run(fate: Fate, changes: Partial<TrainOptions> = {}) {
  const events: RunEvent[] = [];
  const result = await train(
    options({
      workerUrl: mortalWorker(fate),
      onEvent: (event) => events.push(event),
      ...changes,
    }),
  );
  return { events, result };
}

/**
 * The rows that each merge took in: those done since the merge before, by devices that took part in
 * it. A device takes part if it has a weight in the merge's report.
 */
function mergedRows(events: readonly RunEvent[]): RowRange[] {
  const merged: RowRange[] = [];
  let since: { device: number; rows: readonly RowRange[] }[] = [];
  for (const event of events) {
    if (event.type === "done") since.push(event);
    if (event.type !== "merge") continue;
    const took = new Set(event.devices.map(({ device }) => device));
    merged.push(...since.filter(({ device }) => took.has(device)).flatMap((done) => done.rows));
    since = [];
  }
  return merged;
}

function timesTrained(ranges: readonly RowRange[]): number[] {
  const times = Array.from({ length: EPOCHS * ROWS }, () => 0);
  for (const { epoch, start, count } of ranges) {
    for (let row = start; row < start + count; row++) times[epoch * ROWS + row]!++;
  }
  return times;
}

async function precisionAt1(parameters: Float32Array): Promise<number> {
  let hits = 0;
  let row = 0;
  for await (const [best] of predict({ shape, parameters, dataset: evaluation, k: 1 })) {
    if (best!.label === evaluation.labels.indices[evaluation.labels.offsets[row++]!]) hits++;
  }
  return hits / row;
}

const moments = [
  ["step", 1, "exit before"],
  ["step", 6, "exit after"],
  ["step", 7, "throw"],
  ["pull", 1, "exit before"],
  ["pull", 4, "exit after"],
  ["push", 1, "exit before"],
  ["push", 5, "exit after"],
  ["blend", 1, "exit after"],
  ["blend", 4, "throw"],
  ["evaluate", 1, "exit before"],
  ["evaluate", 2, "exit after"],
  ["addPermutation", 1, "exit before"],
  ["addPermutation", 2, "throw"],
] as const;
const ends = ["exit before", "exit after", "throw"] as const;

test.each(moments)(
  "a device lost at %s %i (%s) takes nothing with it: every row of every epoch counts once",
  async (method, call, end) => {
    const { events, result } = await run({ devices: [1], method, call, end });
    expect(result.reason).toBe("epochs");
    expect(new Set(timesTrained(mergedRows(events)))).toEqual(new Set([1]));
    const lost = events.filter((event) => event.type === "lost");
    expect(lost).toMatchObject([{ device: 1 }]);
    expect(result.devices[1]!.lost).toContain("device 1 (cpu)");
    expect(result.metrics!.rows).toBe(100);

    expect(result.metrics!.precision[0]).toBe(await precisionAt1(result.parameters));
    const again = await replay({
      ...options(),
      devices: devicesOf(events),
      events: ofPolicy(events),
    });
    expect(again).toEqual(result.parameters);
  },
);

test("all but one device may be lost at the same call", async () => {
  const { events, result } = await run({
    devices: [0, 2],
    method: "blend",
    call: 2,
    end: "exit before",
  });
  expect(result.reason).toBe("epochs");
  expect(new Set(timesTrained(mergedRows(events)))).toEqual(new Set([1]));
  expect(result.devices.map(({ lost }) => lost === null)).toEqual([false, true, false]);
});

test.each(["step", "push", "blend", "evaluate", "pull"] as const)(
  "when all devices are lost at their %s, the first one's error is the cause, and the last merged model survives",
  async (method) => {
    const events: RunEvent[] = [];
    const fate = { devices: [0, 1, 2], method, call: 4, end: "throw" } as const;
    const failed = run(fate, {
      deviceRetries: 0,
      onEvent: (event) => events.push(event),
      policy: adaptiveSgd({
        epochs: 30,
        schedule: { kind: "constant", rate: 1 },
        merge: normalizedMerge(),
        batch: { max: 16 },
        megaBatchRows: 48,
      }),
    });
    const error: unknown = await failed.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const lost = events.filter((event) => event.type === "lost");
    expect(lost).toHaveLength(3);
    expect(error).toMatchObject({
      code: "NO_DEVICES",
      message: expect.stringMatching(/device \d \(cpu\) failed: out of memory \(and 2 more/),
      cause: { code: "DEVICE_FAILED", message: expect.stringContaining("out of memory") },
    });
    expect(lost.map(({ reason }) => reason)).toContain(((error as Error).cause as Error).message);
    const merges = events.filter((event) => event.type === "merge").length;
    const { parameters } = salvageOf(error)!;
    expect(parameters === null).toBe(merges === 0);
    // The fourth of each is asked for after some merges, but a batch.
    expect(merges > 0 || method === "step").toBe(true);
  },
);

test("a device lost before it is open ends the run, whose error names it", async () => {
  for (const end of ends) {
    const fate = { devices: [1], method: "open", call: 1, end } as const;
    await expect(run(fate)).rejects.toThrow(end === "throw" ? "out of memory" : "device 1 (cpu)");
  }
});

test("a device lost while it is closed changes nothing", async () => {
  const fate = { devices: [0, 1, 2], method: "close", call: 1, end: "exit before" } as const;
  const { result } = await run(fate);
  expect(result.reason).toBe("epochs");
  expect(result.metrics!.rows).toBe(100);
});

test("an evaluation goes on without a lost device, and fails when none is left", async () => {
  const { parameters, metrics } = await run({
    devices: [],
    method: "close",
    call: 1,
    end: "throw",
  }).then(({ result }) => result);
  const evaluate = (devices: readonly number[]) =>
    evaluateModel({
      shape,
      parameters,
      dataset: evaluation,
      batchRows: 8,
      devices: parseDevices("3*cpu"),
      workerUrl: mortalWorker({ devices, method: "evaluate", call: 2, end: "exit after" }),
    });
  expect((await evaluate([0, 2])).precision).toEqual(metrics!.precision);
  await expect(evaluate([0, 1, 2])).rejects.toMatchObject({
    code: "NO_DEVICES",
    message: expect.stringContaining("exit code 3"),
    cause: { code: "DEVICE_EXITED" },
  });
});
