import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createThinnedSeries, thin, type Sample } from "./thinned.js";

const identity = (sample: Sample) => sample;
const samplesOf = (values: readonly number[]) =>
  values.map((value, i): Sample => ({ at: i, rows: 10 * i, value }));

describe("a thinned series", () => {
  test("keeps of each part of the time the first, the last, the lowest and the highest", () => {
    const values = [5, 1, 9, 4, 4, 4, 4, 4, 3, 7, 0, 2];
    const kept = thin(samplesOf(values), 8, identity);
    // Two parts: 0 to 5.5 and from there on.
    expect(kept.map(({ at }) => at)).toEqual([0, 1, 2, 5, 6, 9, 10, 11]);
  });

  test("is the series where that is short enough", () => {
    const samples = samplesOf([3, 2, 1]);
    expect(thin(samples, 8, identity)).toBe(samples);
  });

  test("keeps what lies at one moment", () => {
    const samples = Array.from({ length: 100 }, (_, i) => ({ at: 1, rows: 0, value: i }));
    expect(thin(samples, 8, identity).map(({ value }) => value)).toEqual([0, 99]);
  });

  test("leaves out what is not finite", () => {
    const series = createThinnedSeries(8);
    for (const value of [1, NaN, Infinity, -Infinity, 2]) series.push({ at: 0, rows: 0, value });
    expect(series.samples().map(({ value }) => value)).toEqual([1, 2]);
  });

  test("is a short part of the series, in order, with its ends and extremes", () => {
    const gaps = fc.array(fc.tuple(fc.nat(50), fc.double({ noNaN: true, min: -1e9, max: 1e9 })), {
      minLength: 1,
      maxLength: 3000,
    });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 8, max: 60 }), (steps, limit) => {
        const series = createThinnedSeries(limit);
        let at = 0;
        const all = steps.map(([gap, value], i): Sample => ({ at: (at += gap), rows: i, value }));
        for (const sample of all) series.push(sample);
        const kept = series.samples();
        expect(kept.length).toBeLessThanOrEqual(limit);
        expect(kept.every((sample) => all.includes(sample))).toBe(true);
        expect(kept.map(({ rows }) => rows)).toEqual(
          kept.map(({ rows }) => rows).toSorted((a, b) => a - b),
        );
        expect(kept[0]).toBe(all[0]);
        expect(kept.at(-1)).toBe(all.at(-1));
        const ends = (samples: readonly Sample[]) => [
          Math.min(...samples.map(({ value }) => value)),
          Math.max(...samples.map(({ value }) => value)),
        ];
        expect(ends(kept)).toEqual(ends(all));
      }),
      { numRuns: 200 },
    );
  });
});
