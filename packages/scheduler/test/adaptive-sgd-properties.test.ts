import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adaptiveSgd, takeRows } from "../src/index.js";
import type { AdaptiveSgdOptions, AdaptiveSgdState, EvaluateEvery } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import type { FakeDevice, FakeRun, Incident } from "./fake-run.js";
import { byUpdates, checked, commandsOf, mergeReports } from "./support.js";

interface Scenario {
  readonly rows: number;
  readonly devices: readonly FakeDevice[];
  readonly options: AdaptiveSgdOptions;
  readonly incidents: readonly Incident[];
}

const size = fc.integer({ min: 1, max: 12 });
const device = fc.record({
  speed: fc.constantFrom(0.25, 0.5, 0.8, 1, 1.7, 3),
  maxBatchRows: fc.integer({ min: 1, max: 20 }),
});
const at = fc.nat(480).map((eighths) => eighths / 8);

const options = fc.record(
  {
    epochs: fc.integer({ min: 1, max: 3 }),
    schedule: fc.constant({ kind: "constant", rate: 1 } as const),
    merge: fc.constantFrom(byUpdates, { ...byUpdates, needsNorm: true, momentum: 0.9 }),
    batch: fc
      .tuple(size, size)
      .map(([a, b]) => ({ max: Math.max(a, b), min: Math.min(a, b), reference: 4 })),
    megaBatchRows: fc.integer({ min: 1, max: 80 }),
    batchScaling: fc.constantFrom(
      { rule: "relative" } as const,
      { rule: "proportional" } as const,
      { rule: "fixed", step: 2 } as const,
      { rule: "off" } as const,
    ),
    dynamicDispatch: fc.boolean(),
    scaleLearningRate: fc.boolean(),
    warmupEpochs: fc.constantFrom(0, 0.3, 1),
    warmupBatch: fc.constant(1),
    evaluateEvery: fc.constantFrom<EvaluateEvery>("merge", "epoch", "never", 2),
    maxSteps: fc.integer({ min: 1, max: 60 }),
  },
  { requiredKeys: ["epochs", "schedule", "merge", "batch"] },
);

/** Devices 0 … n − 1 from the start, n … later; some of both are lost. */
const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    rows: fc.integer({ min: 1, max: 90 }),
    options,
    devices: fc.array(device, { minLength: 1, maxLength: 4 }),
    joining: fc.array(fc.tuple(at, device), { maxLength: 2 }),
    losses: fc.array(fc.tuple(at, fc.nat(5)), { maxLength: 4 }),
    finish: fc.option(at, { freq: 3 }),
  })
  .map((drawn) => {
    const devices = drawn.devices.map((info, id) => ({ id, ...info }));
    const joining = drawn.joining.map(([when, { speed, maxBatchRows }], i): Incident => {
      const info = { id: devices.length + i, maxBatchRows };
      return { at: when, speed, event: { type: "joined", device: info } };
    });
    const ids = devices.length + joining.length;
    const losses = new Map(drawn.losses.map(([when, pick]) => [pick % ids, when]));
    const incidents: Incident[] = [...joining];
    for (const [id, when] of losses) {
      const entered = joining[id - devices.length]?.at ?? 0;
      incidents.push({ at: entered + when, event: { type: "lost", device: id, reason: "test" } });
    }
    if (drawn.finish !== null) {
      incidents.push({ at: drawn.finish, event: { type: "finish", reason: "time" } });
    }
    return { rows: drawn.rows, devices, options: drawn.options, incidents };
  });

function run({ rows, devices, options: given, incidents }: Scenario): FakeRun<AdaptiveSgdState> {
  return runFake(checked(adaptiveSgd(given)), { devices, rows, parameters: 9 }, incidents);
}

function holds(
  check: (result: FakeRun<AdaptiveSgdState>, scenario: Scenario) => void,
  numRuns = 150,
): void {
  const property = fc.property(scenario, (drawn) => check(run(drawn), drawn));
  fc.assert(property, { seed: 2026, numRuns });
}

const ascending = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);
const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

describe("whatever the speeds, losses, joins and switches", () => {
  it("has every row either in the model, once, or still in the queue", () => {
    holds(({ state, trained }, { rows, options: { epochs } }) => {
      const left: number[] = [];
      for (let { queue } = state; ;) {
        const [next, ranges] = takeRows(queue, 1);
        const [first] = ranges;
        if (first === undefined) break;
        left.push(first.epoch * rows + first.start);
        queue = next;
      }
      expect(ascending([...trained, ...left])).toEqual(upTo(rows * epochs));
    }, 500);
  });

  it("trains every row of every epoch if it stops because of the epochs", () => {
    let runs = 0;
    holds(({ reason, trained, reports, state }, { rows, options: { epochs } }) => {
      if (reason !== "epochs") return;
      runs++;
      expect(ascending(trained)).toEqual(upTo(rows * epochs));
      const ended = reports.flatMap((report) => (report.type === "epoch" ? [report.epoch] : []));
      expect(ended).toEqual(upTo(epochs));
      expect(state.epochsDone).toBe(epochs);
    });
    expect(runs).toBeGreaterThan(20);
  });

  it("makes exactly as many updates as asked for if it stops because of them", () => {
    let runs = 0;
    holds(({ reason, reports }, { options: { maxSteps } }) => {
      const made = mergeReports(reports).flatMap((report) => report.devices);
      const steps = made.reduce((sum, { updates }) => sum + updates, 0);
      expect(steps).toBeLessThanOrEqual(maxSteps ?? Infinity);
      if (reason !== "steps") return;
      runs++;
      expect(steps).toBe(maxSteps);
    });
    expect(runs).toBeGreaterThan(10);
  });

  it("evaluates the final model, once, unless no device is left for it", () => {
    holds(({ reason, state, commands }) => {
      if (reason === "devices") return;
      const ids = commandsOf(commands, "evaluate").map(({ id }) => id);
      expect(ids.at(-1)).toBe(state.merges);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  it("keeps sizes within the bounds, the learning rate with the size, and the weights' sum at 1", () => {
    holds(({ reports, commands }, { options: given }) => {
      const { scaleLearningRate = true, warmupEpochs = 0, batch: { max = 0 } = {} } = given;
      for (const report of mergeReports(reports)) {
        expect(report.devices.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
        for (const { batchRows, nextBatchRows } of report.devices) {
          expect(Math.min(batchRows, nextBatchRows)).toBeGreaterThanOrEqual(1);
          expect(Math.max(batchRows, nextBatchRows)).toBeLessThanOrEqual(max);
        }
      }
      for (const { rows, learningRate } of commandsOf(commands, "step")) {
        const count = rows.reduce((sum, range) => sum + range.count, 0);
        const full = scaleLearningRate ? count / 4 : 1;
        expect(learningRate).toBe(warmupEpochs > 0 ? Math.min(learningRate, full) : full);
      }
    });
  });

  it("has at most two batches outstanding at a device", () => {
    let deepest = 0;
    holds((result) => {
      expect(result.deepest).toBeLessThanOrEqual(2);
      deepest = Math.max(deepest, result.deepest);
    });
    expect(deepest).toBe(2);
  });
});
