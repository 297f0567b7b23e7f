import type { RunEvent } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import type { Point } from "./event-message.js";
import { createScalars, type Beginning } from "./scalars.js";

const shape = { features: 4, hidden: [8], labels: 3, activation: "relu", loss: "softmax" } as const;
const beginning = {
  algorithm: "adaptive-sgd",
  seed: 1,
  shape,
  trainRows: 100,
  evaluationRows: 10,
  parameters: 50,
  devices: [
    { device: 0, name: "device 0 (cpu)", kernels: "wasm" },
    { device: 1, name: "device 1 (cpu@0.5)", kernels: "wasm" },
  ],
} as const;

/** What comes of events on a clock that says 1000 when the run begins. */
function follow(events: readonly RunEvent[]) {
  const points: Point[] = [];
  const beginnings: Beginning[] = [];
  const event = createScalars(
    { begin: (each) => beginnings.push(each), point: (each) => points.push(each) },
    () => 1000,
  );
  events.forEach(event);
  return {
    beginnings,
    points: points.map((each) => ({ ...each, scalars: new Map(each.scalars) })),
  };
}

const start: RunEvent = { at: 0.5, type: "start", ...beginning };
const done = (at: number, device: number, count: number, loss: number): RunEvent => ({
  at,
  type: "done",
  device,
  rows: [{ epoch: 0, start: 0, count }],
  nonZeros: count,
  seconds: 0.1,
  loss,
});
const merged = (at: number, each: readonly (readonly [updates: number, weight: number])[]) =>
  ({
    at,
    type: "merge",
    merge: 1,
    epoch: 0,
    rows: 30,
    perturbed: false,
    momentum: 0,
    devices: each.map(([updates, weight], device) => ({
      device,
      updates,
      rows: 10 * updates,
      batchRows: 10 + device,
      nextBatchRows: 12,
      learningRate: 0.5,
      weight,
    })),
  }) satisfies RunEvent;
const metrics = {
  cutoffs: [1, 3],
  rows: 10,
  rowsWithoutLabels: 0,
  precision: [0.5, 0.25],
  ndcg: [0.4, 0.3],
  recall: [0.2, 0.1],
};

test("a merge is a point of what was trained since the one before", () => {
  const { points, beginnings } = follow([
    start,
    done(1, 0, 20, 10),
    done(1.5, 1, 10, 20),
    merged(2.5, [
      [2, 0.75],
      [1, 0.25],
    ]),
    done(3, 0, 30, 3),
    merged(4.5, [
      [3, 0.5],
      [0, 0.5],
    ]),
  ]);
  expect(beginnings).toEqual([{ wallTime: 1000, step: 0 }]);
  expect(points.map(({ wallTime, step }) => [wallTime, step])).toEqual([
    [1002, 3],
    [1004, 6],
  ]);
  expect(Object.fromEntries(points[0]!.scalars)).toEqual({
    "loss/train": 1,
    "progress/epochs": 0.3,
    "rows_per_second/all": 15,
    "rows_per_second/device 0 (cpu)": 10,
    "batch_rows/device 0 (cpu)": 10,
    "updates/device 0 (cpu)": 2,
    "learning_rate/device 0 (cpu)": 0.5,
    "merge_weight/device 0 (cpu)": 0.75,
    "rows_per_second/device 1 (cpu@0.5)": 5,
    "batch_rows/device 1 (cpu@0.5)": 11,
    "updates/device 1 (cpu@0.5)": 1,
    "learning_rate/device 1 (cpu@0.5)": 0.5,
    "merge_weight/device 1 (cpu@0.5)": 0.25,
  });
  expect(points[1]!.scalars.get("loss/train")).toBeCloseTo(0.1, 12);
  expect(points[1]!.scalars.get("rows_per_second/all")).toBe(15);
  expect(points[1]!.scalars.get("rows_per_second/device 1 (cpu@0.5)")).toBe(0);
});

test("an evaluation is a point of its own", () => {
  const { points } = follow([
    start,
    done(1, 0, 20, 10),
    merged(2, [[2, 1]]),
    { at: 2.5, type: "evaluation", rows: 20, metrics },
  ]);
  expect(points).toHaveLength(2);
  expect(points[1]).toMatchObject({ step: 2, wallTime: 1002 });
  expect(Object.fromEntries(points[1]!.scalars)).toEqual({
    "evaluation/P@1": 0.5,
    "evaluation/P@3": 0.25,
    "evaluation/nDCG@1": 0.4,
    "evaluation/nDCG@3": 0.3,
    "evaluation/R@1": 0.2,
    "evaluation/R@3": 0.1,
  });
});

test("a round's staleness is the mean over its updates, and is left out where nobody can tell", () => {
  const device = { rows: 10, batchRows: 10, nextBatchRows: 10, learningRate: 1, seconds: 1 };
  const round: RunEvent = {
    at: 2,
    type: "round",
    round: 1,
    epoch: 0,
    rows: 20,
    devices: [
      { ...device, device: 0, updates: 4, share: 0.8, weight: null, staleness: 1.5 },
      { ...device, device: 1, updates: 1, share: 0.2, weight: null, staleness: null },
    ],
  };
  const { points } = follow([start, done(1, 0, 10, 1), done(1, 1, 10, 1), round]);
  expect(points[0]!.step).toBe(5);
  expect(points[0]!.scalars.get("staleness/device 0 (cpu)")).toBe(1.5);
  expect([...points[0]!.scalars.keys()].filter((tag) => /weight|staleness/.test(tag))).toEqual([
    "staleness/device 0 (cpu)",
  ]);
});

test("a resumed run goes on where it was, and says so", () => {
  const { points, beginnings } = follow([
    {
      at: 60,
      type: "resume",
      ...beginning,
      checkpoint: "step-40",
      step: 40,
      rows: 400,
      merges: 4,
      exact: true,
    },
    done(61, 0, 20, 10),
    merged(62, [[2, 1]]),
  ]);
  // All that was written at later steps than the checkpoint's did not happen.
  expect(beginnings).toEqual([{ wallTime: 1000, step: 41 }]);
  expect(points[0]).toMatchObject({ wallTime: 1002, step: 42 });
  expect(points[0]!.scalars.get("progress/epochs")).toBe(4.2);
  expect(points[0]!.scalars.get("rows_per_second/all")).toBe(10);
});

test("what is left at the end is a point, and a device that has joined is known", () => {
  const { points } = follow([
    start,
    done(1, 0, 20, 10),
    merged(2, [[2, 1]]),
    { at: 3, type: "joined", device: { id: 2, maxBatchRows: 9 }, name: "device 2 (cpu)" },
    done(4, 2, 5, 5),
    { at: 5, type: "end", reason: "epochs", devices: [] },
  ]);
  expect(points).toHaveLength(2);
  expect(Object.fromEntries(points[1]!.scalars)).toEqual({
    "loss/train": 1,
    "progress/epochs": 0.25,
    "rows_per_second/all": 5 / 3,
  });
});

test("a long run has few points, in which nothing is missing", () => {
  const merges = 100_000;
  const events: RunEvent[] = [start];
  for (let i = 1; i <= merges; i++) events.push(done(i, 0, 10, 5), merged(i, [[1, 1]]));
  events.push({ at: merges + 1, type: "end", reason: "epochs", devices: [] });
  const { points } = follow(events);
  expect(points.length).toBeGreaterThan(1000);
  expect(points.length).toBeLessThan(1000 * (1 + Math.log(merges / 1000)) + 50);
  expect(points.at(-1)).toMatchObject({ step: merges });
  expect(points.at(-1)!.scalars.get("progress/epochs")).toBe(merges / 10);
  for (const { scalars } of points) expect(scalars.get("loss/train")).toBeCloseTo(0.5, 12);
});
