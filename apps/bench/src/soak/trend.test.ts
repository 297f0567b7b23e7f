import { createRandom } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { trendOf, type Sample } from "./trend.js";

/** A value a second for half an hour, with noise that goes up and down by as much. */
function samples(noise: number, valueAt: (seconds: number) => number, seed = 1): Sample[] {
  const random = createRandom(seed);
  return Array.from({ length: 1800 }, (_, at) => ({
    at,
    value: valueAt(at) + noise * (2 * random.nextFloat() - 1),
  }));
}

test("a line's slope is found exactly, and the medians of the outer thirds", () => {
  const trend = trendOf(samples(0, (at) => 100 + at / 36));
  expect(trend.slope).toBeCloseTo(100, 6);
  expect(trend.error).toBeCloseTo(0, 6);
  expect(trend.first).toBeCloseTo(100 + 299.5 / 36, 6);
  expect(trend.last).toBeCloseTo(100 + 1499.5 / 36, 6);
  expect(trend.verdict).toBe("growing");
});

test("noise around one value is flat, its slope within a few of its errors", () => {
  for (let seed = 0; seed < 20; seed++) {
    const { verdict, slope, error } = trendOf(samples(5, () => 300, seed));
    expect(verdict).toBe("flat");
    expect(Math.abs(slope)).toBeLessThan(4 * error);
  }
});

test("a rise in noise is growing, a fall flat, and a single step in wild noise not clear", () => {
  expect(trendOf(samples(5, (at) => 300 + at / 180)).verdict).toBe("growing");
  expect(trendOf(samples(5, (at) => 300 - at / 180)).verdict).toBe("flat");
  const swings = (at: number) => 300 + 30 * Math.sin(at / 170);
  expect(trendOf(samples(1, swings)).verdict).toBe("not clear");
});

test("too few samples are refused", () => {
  expect(() => trendOf(samples(0, () => 1).slice(0, 71))).toThrow(RangeError);
});
