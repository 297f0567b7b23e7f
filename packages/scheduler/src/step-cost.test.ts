import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { faded, fixedRows, leastRows, noTimes, withStep } from "./step-cost.js";
import type { StepTimes } from "./step-cost.js";

function timesOf(steps: readonly (readonly [rows: number, seconds: number])[]): StepTimes {
  return steps.reduce((times, [rows, seconds]) => withStep(times, rows, seconds), noTimes);
}

describe("fixedRows", () => {
  it("is 0 before anything is known, and while all steps are of one size", () => {
    expect(fixedRows(noTimes)).toBe(0);
    expect(
      fixedRows(
        timesOf([
          [128, 0.01],
          [128, 0.01],
        ]),
      ),
    ).toBeCloseTo(0, 9);
  });

  it("is 0 where seconds are in proportion to rows", () => {
    expect(
      fixedRows(
        timesOf([
          [100, 2],
          [50, 1],
          [75, 1.5],
        ]),
      ),
    ).toBeCloseTo(0, 9);
  });

  it("is what the line through the times says, drawn to what was known before", () => {
    // t = 1 + b/100: means 75 rows and 1.75 s, variance 625, covariance 6.25. What was known, f = 0,
    // adds (75/20)² = 14.0625 and 14.0625 · 1.75/75 = 0.328125.
    const slope = 6.578125 / 639.0625;
    const times = timesOf([
      [100, 2],
      [50, 1.5],
    ]);
    expect(fixedRows(times)).toBeCloseTo(1.75 / slope - 75, 9);
    expect(fixedRows(times)).toBeCloseTo(95.01, 2);
  });

  it("comes to what the line says after a few mega-batches, and stays where sizes stay", () => {
    let times = timesOf([
      [100, 2],
      [50, 1.5],
    ]);
    for (let merge = 0; merge < 3; merge++) times = faded(times);
    expect(fixedRows(times)).toBeCloseTo(100, 2);
    for (let merge = 0; merge < 100; merge++) times = withStep(faded(times), 70, 1.7);
    expect(fixedRows(times)).toBeCloseTo(100, 2);
  });

  it("is more than any batch where smaller batches take longer", () => {
    const times = timesOf([
      [100, 1],
      [50, 1.5],
    ]);
    expect(fixedRows(times)).toBe(1e9);
    expect(fixedRows(faded(times))).toBe(1e9);
  });

  it("is 0 where seconds fall faster than rows", () => {
    expect(
      fixedRows(
        timesOf([
          [100, 2],
          [50, 0.5],
        ]),
      ),
    ).toBe(0);
  });

  it("depends on times' ratios alone", () => {
    const step = fc.tuple(
      fc.integer({ min: 1, max: 500 }),
      fc.double({ min: 0.1, max: 10, noNaN: true }),
    );
    const property = fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const value = fixedRows(timesOf(steps));
      expect(value).toBeGreaterThanOrEqual(0);
      const slower = fixedRows(timesOf(steps.map(([rows, seconds]) => [rows, 4 * seconds])));
      expect(slower).toBe(value);
    });
    fc.assert(property, { seed: 3, numRuns: 300 });
  });

  it("forgets what a device was like", () => {
    let times = timesOf([
      [100, 2],
      [50, 1.5],
    ]);
    for (let merge = 0; merge < 50; merge++) {
      times = withStep(withStep(faded(times), 100, 4), 50, 2);
    }
    expect(fixedRows(times)).toBeLessThan(1);
  });

  it("pays no heed to steps without rows and to times that no clock can have measured", () => {
    expect(withStep(noTimes, 0, 1)).toEqual(noTimes);
    for (const seconds of [0, -1, Infinity, Number.NaN]) {
      expect(withStep(noTimes, 10, seconds)).toEqual(noTimes);
    }
  });
});

describe("leastRows", () => {
  it("keeps the throughput that it is told", () => {
    const any = fc.record({
      fixed: fc.double({ min: 0, max: 1e4, noNaN: true }),
      throughput: fc.double({ min: 0, max: 0.99, noNaN: true }),
      most: fc.integer({ min: 1, max: 1000 }),
    });
    const property = fc.property(any, ({ fixed, throughput, most }) => {
      const least = leastRows(fixed, throughput, most);
      expect(least).toBeGreaterThanOrEqual(0);
      expect(least).toBeLessThanOrEqual(most);
      // Rows a second at this size over those at the largest, wherever size matters at all.
      if (fixed < 1e-6 || throughput < 1e-6) return;
      const kept = (least * (fixed + most)) / ((fixed + least) * most);
      expect(kept).toBeCloseTo(throughput, 6);
    });
    fc.assert(property, { seed: 5, numRuns: 300 });
  });

  it("is the share of the largest batch where rows cost next to nothing, and 0 where only they do", () => {
    expect(leastRows(1e9, 0.9, 100)).toBeCloseTo(90, 4);
    expect(leastRows(0, 0.9, 100)).toBe(0);
  });
});
