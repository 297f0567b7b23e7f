import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBinnedSums } from "./binned.js";

const width = 1 / 1024;

describe("binned sums", () => {
  test("spread an amount over the bins that its span touches", () => {
    const binned = createBinnedSums(8);
    binned.add(0.5 * width, 2.5 * width, 4);
    expect(binned.width()).toBe(width);
    expect(binned.sums()).toEqual([1, 2, 1]);
    binned.add(width, width, 5);
    expect(binned.sums()).toEqual([1, 7, 1]);
  });

  test("double their bins when the time runs out", () => {
    const binned = createBinnedSums(4);
    binned.add(0, width / 2, 1);
    binned.add(width, width, 2);
    binned.add(2 * width, 2 * width, 3);
    binned.add(5 * width, 5 * width, 4);
    expect(binned.width()).toBe(2 * width);
    expect(binned.sums()).toEqual([3, 3, 4]);
  });

  test("take nothing that has no place or no size", () => {
    const binned = createBinnedSums(4);
    for (const [from, to, amount] of [
      [-1, 0, 1],
      [2, 1, 1],
      [NaN, 1, 1],
      [0, Infinity, 1],
      [0, 1, NaN],
    ] as const) {
      binned.add(from, to, amount);
    }
    expect(binned.sums()).toEqual([]);
  });

  test("lose nothing, in few bins, however long it takes", () => {
    const spans = fc.array(
      fc.tuple(
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.nat(1000),
      ),
      { minLength: 1, maxLength: 100 },
    );
    fc.assert(
      fc.property(spans, (all) => {
        const binned = createBinnedSums(16);
        for (const [from, length, amount] of all) binned.add(from, from + length, amount);
        const total = all.reduce((sum, [, , amount]) => sum + amount, 0);
        expect(binned.sums().length).toBeLessThanOrEqual(16);
        expect(binned.sums().reduce((sum, value) => sum + value, 0)).toBeCloseTo(total, 6);
      }),
    );
  });
});
