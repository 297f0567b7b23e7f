import { expect, test } from "vitest";
import { compareCells, falseAlarms, verdictOf } from "./compare.js";
import { madeUpRecord } from "./made-up-records.js";
import { measureCells } from "./measures.js";
import { readSuite } from "./suite-file.js";

const higher = { better: "higher" } as const;
const lower = { better: "lower" } as const;

test("something moved if all of one side is beyond all of the other", () => {
  expect(verdictOf([1, 2, 3], [4, 5, 6], higher)).toBe("better");
  expect(verdictOf([1, 2, 3], [4, 5, 6], lower)).toBe("worse");
  expect(verdictOf([4, 5, 6], [1, 2, 3], higher)).toBe("worse");
  expect(verdictOf([1, 2, 3], [3, 4, 5], higher)).toBe("noise");
  expect(verdictOf([1, 2, 5], [4, 6, 7], higher)).toBe("noise");
});

test("the same values in another order are the same", () => {
  expect(verdictOf([1, 2, 3], [3, 1, 2], higher)).toBe("same");
  expect(verdictOf([1], [1], higher)).toBe("same");
});

test("with two seeds on a side nothing is said", () => {
  expect(verdictOf([1, 2], [4, 5, 6], higher)).toBe("too few seeds");
  expect(verdictOf([1, 2, undefined], [4, 5, 6], higher)).toBe("too few seeds");
});

test("a goal that is never reached takes longest, and a run that diverged is worst", () => {
  expect(verdictOf([1, 2, 3], [null, null, null], lower)).toBe("worse");
  expect(verdictOf([null, null, null], [1, 2, 3], lower)).toBe("better");
  expect(verdictOf([1, 2, 3], [null, null, null], higher)).toBe("worse");
  expect(verdictOf([1, 2, null], [null, null, null], lower)).toBe("noise");
});

test("the rule's false alarms are those counted over all ways to deal out six values", () => {
  const deals: number[][] = [];
  for (let mask = 0; mask < 64; mask++) {
    const taken = [0, 1, 2, 3, 4, 5].filter((i) => (mask >> i) & 1);
    if (taken.length === 3) deals.push(taken);
  }
  const alarms = deals.filter((a) => {
    const b = [0, 1, 2, 3, 4, 5].filter((i) => !a.includes(i));
    return ["better", "worse"].includes(verdictOf(a, b, higher));
  });
  expect(alarms.length / deals.length).toBeCloseTo(falseAlarms(3, 3));
  expect(falseAlarms(3, 3)).toBeCloseTo(0.1);
  expect(falseAlarms(5, 5)).toBeCloseTo(2 / 252);
});

test("two folders are compared cell by cell, and what only one has is named", () => {
  const suite = { ...readSuite("averaging"), platforms: [{ name: "four", profile: "four-v100" }] };
  const cells = (algorithm: string, by: number) =>
    [1, 2, 3].map((seed) =>
      madeUpRecord({ algorithm, seed, precision: [0.1, 0.3 + seed / 100 + by] }),
    );
  const a = measureCells({ suite, records: [...cells("elastic", 0), ...cells("sync", 0)] });
  const b = measureCells({ suite, records: [...cells("elastic", 0.1), ...cells("easgd", 0)] });
  const { comparisons, onlyA, onlyB, expectedFalseAlarms } = compareCells(a, b);
  const verdicts = comparisons.map(({ measure, verdict }) => [measure.name, verdict]);
  expect(verdicts).toEqual([
    ["bestPrecision", "better"],
    ["finalPrecision", "better"],
    ["finalLoss", "same"],
    ["secondsToGoal", "same"],
    ["seconds", "same"],
    ["waiting", "same"],
  ]);
  expect(onlyA.map(({ algorithm }) => algorithm)).toEqual(["sync"]);
  expect(onlyB.map(({ algorithm }) => algorithm)).toEqual(["easgd"]);
  expect(expectedFalseAlarms).toBeCloseTo(0.2);
});
