import { expect, test } from "vitest";
import { median, pairedRatio, quantile, spreadOf, sum } from "./statistics.js";

test("the median is the middle value, or the mean of the two in the middle", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow(RangeError);
});

test("a quantile lies between two values by interpolation", () => {
  const values = [50, 10, 40, 20, 30];
  expect(quantile(values, 0)).toBe(10);
  expect(quantile(values, 1)).toBe(50);
  expect(quantile(values, 0.1)).toBe(14);
  expect(quantile([7], 0.9)).toBe(7);
  expect(() => quantile([], 0.5)).toThrow(RangeError);
  expect(() => quantile(values, 1.1)).toThrow(RangeError);
  expect(spreadOf(values)).toEqual({ median: 30, low: 14, high: 46 });
});

test("a ratio is the median over the rounds that both took part in", () => {
  expect(pairedRatio([2, 4, 90], [1, 1, 30])).toBe(3);
  expect(pairedRatio([2, 4, 90], [1, 1])).toBe(3);
  expect(pairedRatio([], [1])).toBeNull();
});

test("the sum of nothing is nothing", () => {
  expect(sum([])).toBe(0);
  expect(sum([1, 2, 3])).toBe(6);
});
