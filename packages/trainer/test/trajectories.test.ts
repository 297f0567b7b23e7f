/** What real devices made of the parameters, against the formulas in float64. */
import { normalizedMerge } from "@heterosgd/merge";
import { initialise, parameterLayout, rowNorm } from "@heterosgd/model";
import { algorithms } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import type { RunEvent } from "../src/index.js";
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
const rate = (epochs: number) => 0.4 / (1 + 0.5 * epochs);

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

test.each(raceFree)("%s on two workers is what its formula says, batch by batch", async (name) => {
  const { own, formula } = cases[name]!;
  const algorithm = algorithms[name]!;
  const events: RunEvent[] = [];
  const { parameters } = await train({
    train: rows,
    evaluation: null,
    shape,
    rule: null,
    devices: parseDevices(small[name]!.devices),
    policy: algorithm.create({
      epochs: 3,
      schedule: { kind: "inverse", rate: 0.4, decay: 0.5 },
      own,
      ...(algorithm.needsMerge ? { merge: normalizedMerge({ momentum: GAMMA }) } : {}),
    }),
    seed,
    onEvent: (event) => events.push(event),
  });

  const layout = parameterLayout(shape);
  const initial = new Float32Array(layout.length);
  initialise(layout, initial, seed, { rowNorm: rowNorm(rows.features), scale: 1 });
  const { model, losses } = await formula({
    events,
    initial: Float64Array.from(initial),
    gradient: exactGradients({ train: rows, shape, seed }),
    rate,
    trainRows: ROWS,
    batch: BATCH,
  });

  expect(losses.length).toBe(events.filter(({ type }) => type === "done").length);
  for (const { recorded, computed } of losses) {
    expect(Math.abs(recorded - computed)).toBeLessThan(1e-4 * (1 + Math.abs(computed)));
  }
  expect(distance(parameters, model)).toBeLessThan(2e-5);
  // The losses tell parameters apart: those of the start are not within the tolerance.
  expect(distance(initial, model)).toBeGreaterThan(0.1);
});
