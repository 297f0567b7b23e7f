import { expect, test } from "vitest";
import { bestOf, contestantsOf, medianOf, secondsTo } from "./contestants.js";
import { collectRun } from "./collect-run.js";
import { spreadOf } from "./spread.js";
import { shortRun } from "../../test/made-up-run.js";

test("a spread is the median and the range from where all curves have values, and those that have ended keep their last", () => {
  const rising = [
    { x: 0, y: 0 },
    { x: 4, y: 4 },
  ];
  const flat = [
    { x: 1, y: 1 },
    { x: 3, y: 1 },
  ];
  const high = [
    { x: 1, y: 6 },
    { x: 2, y: 6 },
    { x: 5, y: 9 },
  ];
  expect(spreadOf([rising, flat, high], 10)).toEqual([
    { x: 1, median: 1, low: 1, high: 6 },
    { x: 2, median: 2, low: 1, high: 6 },
    { x: 3, median: 3, low: 1, high: 7 },
    { x: 4, median: 4, low: 1, high: 8 },
    { x: 5, median: 4, low: 1, high: 9 },
  ]);
  expect(spreadOf([rising, flat], 10).map(({ median }) => median)).toEqual([1, 2, 2.5]);
});

test("a spread of curves that do not overlap begins with the last of them, and one of no curve is empty", () => {
  const late = [{ x: 1, y: 3 }];
  expect(spreadOf([[{ x: 0, y: 1 }], late], 10)).toEqual([{ x: 1, median: 2, low: 1, high: 3 }]);
  expect(spreadOf([[], [{ x: 1, y: 1 }]], 10)).toEqual([]);
  expect(spreadOf([], 10)).toEqual([]);
});

test("a spread has no more places than asked for, its ends among them", () => {
  const curve = Array.from({ length: 1000 }, (_, x) => ({ x, y: x }));
  const spread = spreadOf([curve, curve], 50);
  expect(spread).toHaveLength(50);
  expect([spread[0]!.x, spread.at(-1)!.x]).toEqual([0, 999]);
});

test("runs of one name are the seeds of a contestant", () => {
  const run = (name: string) => {
    const collector = collectRun(name);
    for (const event of shortRun) collector.event(event);
    return collector.series();
  };
  const contestants = contestantsOf([run("a"), run("b"), run("a")]);
  expect(contestants.map(({ name, runs }) => [name, runs.length])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  const [first] = contestants[0]!.runs;
  expect(first!.curve.map(({ precision }) => precision)).toEqual([0.25, 0.5]);
  expect([bestOf(first!), secondsTo(0.3, first!), secondsTo(0.51, first!)]).toEqual([
    0.5,
    2.25,
    Infinity,
  ]);
  expect(bestOf({ curve: [] })).toBeNull();
});

test("a median of an even number is the one below the middle", () => {
  expect(medianOf([Infinity, 1, 3, 2])).toBe(2);
  expect(medianOf([])).toBeNaN();
});
