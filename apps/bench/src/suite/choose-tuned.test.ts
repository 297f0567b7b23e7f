import { expect, test } from "vitest";
import { chooseTuned } from "./choose-tuned.js";
import { madeUpRecord } from "./made-up-records.js";

const trial = (learningRate: number, precision: readonly number[] | null) =>
  madeUpRecord({ tuned: { learningRate }, precision });
const combinations = [1, 2, 3].map((learningRate) => ({ learningRate }));

test("the highest best P@1 is taken, though it be lower at the end", () => {
  const records = [trial(1, [0.1, 0.5]), trial(2, [0.6, 0.2]), trial(3, [0.4, 0.4])];
  expect(chooseTuned(combinations, records)).toEqual({ learningRate: 2 });
});

test("seeds count by their median, and of equal ones the first is taken", () => {
  const seeds = (rate: number, ...best: readonly number[]) => best.map((it) => trial(rate, [it]));
  const records = [
    ...seeds(1, 0.1, 0.5, 0.9),
    ...seeds(2, 0.4, 0.4, 1),
    ...seeds(3, 0.5, 0.5, 0.5),
  ];
  expect(chooseTuned(combinations, records)).toEqual({ learningRate: 1 });
});

test("what diverged once is not taken, even if that leaves nothing", () => {
  const records = [trial(1, [0.2]), trial(2, [0.9]), trial(2, null), trial(3, null)];
  expect(chooseTuned(combinations, records)).toEqual({ learningRate: 1 });
  expect(chooseTuned(combinations.slice(1), records)).toBeNull();
});
