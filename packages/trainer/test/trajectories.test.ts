/** What real and simulated devices made of the parameters, against the formulas in float64. */
import { normalizedMerge } from "@heterosgd/merge";
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import { algorithms, type LearningRateSchedule } from "@heterosgd/scheduler";
import { describe, expect, test } from "vitest";
import { parseSimulatedDevices, simulate, type Profile, type RunEvent } from "../src/index.js";
import { builtTrainer } from "./built.js";
import { exactGradients } from "./formulas.js";
import { raceFree, small } from "./small-algorithms.js";
import { syntheticRows } from "./synthetic.js";
import {
  adaptive,
  averaged,
  corrected,
  delayed,
  elastic,
  synchronous,
  type Trajectory,
} from "./trajectories.js";

const { parseDevices, train } = await builtTrainer();

const ROWS = 300;
const BATCH = 8;
const rows = syntheticRows(ROWS, { seed: 5 });
// Smooth, so that rounding can't put a unit on the other side of a corner.
const shape = {
  features: 40,
  hidden: [12, 9],
  labels: 10,
  activation: "tanh",
  loss: "softmax",
} as const;
const seed = 3;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const reportsOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "merge" || event.type === "round" ? [event] : []));
const updatesOf = (events: readonly RunEvent[]) =>
  sum(reportsOf(events).flatMap(({ devices }) => devices.map(({ updates }) => updates)));

interface Case {
  readonly own: Readonly<Record<string, number | string | boolean>>;
  readonly formula: (run: Parameters<typeof synchronous>[0]) => Promise<Trajectory>;
}

const GAMMA = 0.4;
const cases: Readonly<Record<string, Case>> = {
  "adaptive-sgd": {
    own: { batch: 16, batchReference: BATCH, megaBatch: 70 },
    formula: (run) => adaptive(run, GAMMA),
  },
  "abs-sgd": { own: { microBatch: 4 }, formula: delayed },
  sync: { own: { batch: BATCH }, formula: synchronous },
  "lb-bsp": { own: { batch: BATCH }, formula: synchronous },
  elastic: { own: { batch: BATCH, mergeEvery: 4 }, formula: averaged },
  local: { own: { batch: BATCH, localSteps: 3 }, formula: averaged },
  easgd: {
    own: { batch: BATCH, mergeEvery: 3, elasticity: 0.7 },
    formula: (run) => elastic(run, 0.7),
  },
  crossbow: { own: { batch: BATCH, momentum: 0.6 }, formula: (run) => corrected(run, 0.6) },
};

test("each algorithm without races has a formula", () => {
  expect(Object.keys(cases).toSorted()).toEqual(raceFree.toSorted());
});

/** Largest difference, as a part of the largest element. */
function distance(actual: Float32Array, expected: Float64Array): number {
  const largest = (values: Float64Array) =>
    values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return largest(expected.map((value, i) => value - actual[i]!)) / largest(expected);
}

const data = { train: rows, evaluation: null, shape, rule: null, seed } as const;

const policyOf = (name: string, schedule: LearningRateSchedule) =>
  algorithms[name]!.create({
    epochs: 3,
    schedule,
    own: cases[name]!.own,
    ...(algorithms[name]!.needsMerge ? { merge: normalizedMerge({ momentum: GAMMA }) } : {}),
  });

/** Holds the recording against the algorithm's formula. */
async function expectFormula(
  name: string,
  events: readonly RunEvent[],
  parameters: Float32Array,
  rate: (epochs: number) => number,
): Promise<void> {
  const layout = parameterLayout(shape);
  const initial = new Float32Array(layout.length);
  initialise(layout, initial, seed, { rowNorm: rowNorm(rows.features), scale: 1 });
  const { model, losses } = await cases[name]!.formula({
    events,
    initial: Float64Array.from(initial),
    gradient: exactGradients({ train: rows, shape, seed }),
    rate,
    trainRows: ROWS,
    batch: BATCH,
  });

  for (const { recorded, computed } of losses) {
    expect(Math.abs(recorded - computed)).toBeLessThan(1e-4 * (1 + Math.abs(computed)));
  }
  expect(distance(parameters, model)).toBeLessThan(2e-5);
  // The losses tell parameters apart: those of the start are not within the tolerance.
  expect(distance(initial, model)).toBeGreaterThan(0.1);
  expect(losses.length).toBe(updatesOf(events));
}

test.each(raceFree)("%s on two workers is what its formula says, batch by batch", async (name) => {
  const events: RunEvent[] = [];
  const { parameters } = await train({
    ...data,
    devices: parseDevices(small[name]!.devices),
    policy: policyOf(name, { kind: "inverse", rate: 0.4, decay: 0.5 }),
    onEvent: (event) => events.push(event),
  });
  await expectFormula(name, events, parameters, (epochs) => 0.4 / (1 + 0.5 * epochs));
  expect(updatesOf(events)).toBe(events.filter(({ type }) => type === "done").length);
});

/** Batches of about a second, and models that take as long to pass. */
const profile: Profile = {
  name: "test",
  description: "Devices for tests.",
  measured: false,
  link: { latency: 0.7, bandwidth: 1e300 },
  kinds: { gpu: { fixed: 0.5, perRow: 0.06, perNonZero: 0, jitter: 0.2 } },
  devices: [{ kind: "gpu" }],
};

describe.each(raceFree)(
  "%s, simulated, is what its formula says, whatever comes between:",
  (name) => {
    // While it trains, pushes or its sums are being reduced; as another one joins; all but one at once.
    test.each([
      "gpu,gpu:leaves=2@0.6,gpu:joins=5@0.8",
      "gpu,gpu:leaves=2.9@0.6,gpu:joins=2.9@0.8",
      "gpu:leaves=4.3,gpu@0.6,gpu:joins=0.3@0.8",
      "gpu:leaves=0.1,gpu:leaves=7.7@0.6,gpu@0.8,gpu:joins=7.5",
      "gpu:leaves=9.4,gpu:leaves=9.4@0.6,gpu:leaves=9.4,gpu@0.8,gpu:joins=9.4",
    ])("%s", async (text) => {
      const events: RunEvent[] = [];
      // One rate, as that of a round goes by rows that may come back.
      const { parameters } = await simulate({
        ...data,
        profile,
        devices: parseSimulatedDevices(text, profile),
        policy: policyOf(name, { kind: "constant", rate: 0.2 }),
        onEvent: (event) => events.push(event),
      });
      expect(events.filter(({ type }) => type === "lost").length).toBe(
        text.split("leaves").length - 1,
      );
      await expectFormula(name, events, parameters, () => 0.2);
      expect(sum(reportsOf(events).map((report) => report.rows))).toBe(3 * ROWS);
    });
  },
);
