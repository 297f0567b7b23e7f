import { expect, test } from "vitest";
import { median, sum } from "./statistics.js";

test("the median is the middle value, or the mean of the two in the middle", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow(RangeError);
});

test("the sum of nothing is nothing", () => {
  expect(sum([])).toBe(0);
  expect(sum([1, 2, 3])).toBe(6);
});
