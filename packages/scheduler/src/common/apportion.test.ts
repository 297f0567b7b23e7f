import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apportion } from "./apportion.js";

const parts = (total: number, weights: readonly number[], most = 100, least = 0) =>
  apportion(
    total,
    weights.map((weight) => ({ weight, least, most })),
  );

describe("splitting a whole number", () => {
  it("goes by the weights, largest remainders first, of equal ones the first", () => {
    expect(parts(8, [3, 1])).toEqual([6, 2]);
    expect(parts(10, [1, 1, 1])).toEqual([4, 3, 3]);
    expect(parts(2, [1, 1, 1])).toEqual([1, 1, 0]);
    // 1.9, 1.9 and 6.2: the two remainders of 0.9 win.
    expect(parts(10, [0.19, 0.19, 0.62])).toEqual([2, 2, 6]);
  });

  it("gives what bounds take from one to the others", () => {
    expect(parts(12, [10, 1, 1], 6)).toEqual([6, 3, 3]);
    expect(parts(12, [100, 1, 1], 100, 2)).toEqual([8, 2, 2]);
    // The upper bound pulls harder, and settles first: 4, and 8 at 1 : 3.
    expect(parts(12, [100, 1, 3], 4, 1)).toEqual([4, 4, 4]);
  });

  it("gives what it can where the bounds do not let it give all", () => {
    expect(parts(20, [1, 2], 6)).toEqual([6, 6]);
    expect(parts(0, [1, 2])).toEqual([0, 0]);
    expect(apportion(5, [])).toEqual([]);
  });

  it("keeps to total and bounds, and equal claims get equal parts but for one", () => {
    const claim = fc.record({
      weight: fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      least: fc.integer({ min: 0, max: 3 }),
      room: fc.integer({ min: 0, max: 40 }),
    });
    const property = fc.property(
      fc.nat(200),
      fc.array(claim, { minLength: 1, maxLength: 6 }),
      (wanted, drawn) => {
        const claims = drawn.map(({ weight, least, room }) => ({
          weight,
          least,
          most: least + room,
        }));
        const least = claims.reduce((sum, part) => sum + part.least, 0);
        const most = claims.reduce((sum, part) => sum + part.most, 0);
        const total = Math.min(most, Math.max(least, wanted));
        const split = apportion(total, claims);
        expect(split.reduce((sum, part) => sum + part, 0)).toBe(total);
        for (const [i, part] of split.entries()) {
          expect(part).toBeGreaterThanOrEqual(claims[i]?.least ?? 0);
          expect(part).toBeLessThanOrEqual(claims[i]?.most ?? 0);
        }
        const doubled = apportion(2 * total, [...claims, ...claims]);
        for (const [i] of claims.entries()) {
          const [one = 0, other = 0] = [doubled[i], doubled[i + claims.length]];
          expect(Math.abs(one - other)).toBeLessThanOrEqual(1);
        }
      },
    );
    fc.assert(property, { seed: 2026, numRuns: 500 });
  });
});
