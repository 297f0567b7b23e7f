import { expect, test } from "vitest";
import { overheadOf, balanceOf } from "./unequal.js";

const merge = (number: number, updates: readonly number[]) =>
  ({
    at: 0,
    type: "merge",
    merge: number,
    epoch: 0,
    rows: 0,
    perturbed: false,
    momentum: 0,
    devices: updates.map((count, device) => ({
      device,
      updates: count,
      rows: 0,
      batchRows: 0,
      nextBatchRows: 0,
      learningRate: 0,
      weight: 0.5,
    })),
  }) as const;

test("balance counts from the first mega-batch of equal updates, the short last one left out", () => {
  const merges = [
    [10, 5],
    [8, 7],
    [9, 6],
    [8, 8],
    [8, 7],
    [1, 4],
  ].map((u, i) => merge(i + 1, u));
  expect(balanceOf({ merges })).toEqual({ first: 2, steadiness: 0.75 });
  expect(balanceOf({ merges: [merge(1, [10, 5]), merge(2, [5, 5])] }).first).toBeNull();
});

test("overhead is waiting and merging over all of the devices' time", () => {
  const device = (usage: {
    training: number;
    merging: number;
    evaluating: number;
    waiting: number;
  }) => ({
    device: 0,
    name: "",
    kernels: "plain",
    rows: 0,
    updates: 0,
    rowsPerSecond: 0,
    batchRows: null,
    weight: null,
    leastWeight: null,
    staleness: null,
    lost: null,
    replaces: null,
    usage,
  });
  const devices = [
    device({ training: 8, merging: 0.5, evaluating: 1, waiting: 0.5 }),
    device({ training: 9, merging: 0, evaluating: 1, waiting: 0 }),
  ];
  expect(overheadOf({ end: { type: "end", reason: "epochs", devices } })).toBeCloseTo(0.05);
});
