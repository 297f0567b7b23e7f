import { expect, test } from "vitest";
import { madeUpRecord } from "./made-up-records.js";
import { measureCells } from "./measures.js";
import { readSuite } from "./suite-file.js";

const suite = {
  ...readSuite("averaging"),
  losses: [0.5, 1],
  platforms: [{ name: "four", profile: "four-v100" }],
  goal: { bestOf: "elastic" },
};
const records = [
  madeUpRecord({ algorithm: "elastic", seed: 2, precision: [0.1, 0.5, 0.4] }),
  madeUpRecord({ algorithm: "elastic", seed: 1, precision: [0.1, 0.2, 0.3] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 1, precision: [0.1, 0.35, 0.3] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 2, precision: [0.2, 0.4, 0.45] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 3, precision: null }),
];

test("the goal is what the other reaches with the same seed; who misses it has no time", () => {
  const [adaptive, elastic] = measureCells({ suite, records });
  expect(adaptive!.algorithm).toBe("adaptive-sgd");
  // Of seed 3 there is nothing to be reached.
  expect(adaptive!.values.secondsToGoal).toEqual([2, null, undefined]);
  expect(adaptive!.values.bestPrecision).toEqual([0.35, 0.45, null]);
  expect(elastic!.seeds).toEqual([1, 2]);
  expect(elastic!.values.secondsToGoal).toEqual([3, 2]);
});

test("a share of what the other reaches is reached earlier", () => {
  const [adaptive, elastic] = measureCells({
    suite: { ...suite, goal: { bestOf: "elastic", share: 0.8 } },
    records,
  });
  // 0.24 and 0.4.
  expect(adaptive!.values.secondsToGoal).toEqual([2, 2, undefined]);
  expect(elastic!.values.secondsToGoal).toEqual([3, 2]);
  expect(adaptive!.speedups).toEqual([1.5, 1, undefined]);
});

test("waiting and updates are parts of all devices'", () => {
  const [, elastic] = measureCells({ suite, records });
  expect(elastic!.values.waiting).toEqual([0.25, 0.25]);
  expect(elastic!.devices).toEqual([
    { name: "gpu", updates: [0.75, 0.75], busy: [0.9, 0.9] },
    { name: "gpu@0.5", updates: [0.25, 0.25], busy: [0.6, 0.6] },
  ]);
});

test("tuning runs are no results", () => {
  const trials = records.map((record) => ({ ...record, stage: "tuning" as const }));
  expect(measureCells({ suite, records: trials })).toEqual([]);
});

test("the speed-up is paired by seed, nothing where the goal is missed, and needs a run to compare with", () => {
  const [adaptive, elastic] = measureCells({ suite, records });
  expect(elastic!.speedups).toEqual([1, 1]);
  // Elastic reaches its 0.3 of seed 1 at second 3, adaptive at 2; its 0.5 of seed 2 adaptive misses.
  expect(adaptive!.speedups).toEqual([1.5, 0, undefined]);
  const [fixed] = measureCells({ suite: { ...suite, goal: { precision: 0.3 } }, records });
  expect(fixed!.speedups).toEqual([undefined, undefined, undefined]);
});

test("losses are taken at shares of the reference's time, over the lowest of the same seed", () => {
  // Made-up losses are 1, 1/2, 1/3 at the seconds 1, 2, 3.
  const short = madeUpRecord({ algorithm: "sync", seed: 1, precision: [0.1, 0.2] });
  const cells = measureCells({ suite, records: [...records, short] });
  const [adaptive, sync, elastic] = cells;
  expect(cells.map(({ algorithm }) => algorithm)).toEqual(["adaptive-sgd", "sync", "elastic"]);
  expect(elastic!.losses).toEqual([
    [3, 3],
    [1, 1],
  ]);
  // At 3 seconds the last loss of a run of two still holds.
  expect(sync!.losses).toEqual([[3], [1.5]]);
  // Of seed 3 there is no reference.
  expect(adaptive!.losses).toEqual([
    [3, 3, null],
    [1, 1, null],
  ]);
});
