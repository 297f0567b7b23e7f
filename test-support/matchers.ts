import { expect } from "vitest";

/**
 * How far numbers may lie apart: `|actual − expected| ≤ absolute + relative · |expected|`.
 */
interface Tolerance {
  /** Default 0. */
  readonly relative?: number;
  /** Default 0. */
  readonly absolute?: number;
}

declare module "vitest" {
  // The type parameter has to be declared as vitest declares it.
  // oxlint-disable-next-line typescript/no-explicit-any
  interface Matchers<T = any> {
    /**
     * Every number of an array or typed array lies within the tolerance of its counterpart; NaN
     * lies close to NaN alone.
     */
    toBeAllClose(expected: ArrayLike<number>, tolerance: Tolerance): T;
  }
}

expect.extend({
  toBeAllClose(
    actual: ArrayLike<number>,
    expected: ArrayLike<number>,
    { relative = 0, absolute = 0 }: Tolerance,
  ) {
    if (actual.length !== expected.length) {
      return {
        pass: false,
        message: () => `expected ${expected.length} numbers, received ${actual.length}`,
      };
    }
    const apart: number[] = [];
    for (let i = 0; i < expected.length; i++) {
      if (!isClose(at(actual, i), at(expected, i), relative, absolute)) apart.push(i);
    }
    const shown = apart
      .slice(0, 5)
      .map((i) => `  [${i}] expected ${at(expected, i)}, received ${at(actual, i)}`);
    return {
      pass: apart.length === 0,
      message: () =>
        apart.length === 0
          ? `expected numbers that are not all within relative ${relative}, absolute ${absolute}`
          : `${apart.length} of ${expected.length} numbers are not within relative ${relative}, absolute ${absolute}:\n${shown.join("\n")}`,
    };
  },
});

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] ?? Number.NaN;
}

function isClose(actual: number, expected: number, relative: number, absolute: number): boolean {
  // Equal infinities and NaNs are close; an infinite expectation would otherwise allow anything.
  if (Object.is(actual, expected) || actual === expected) return true;
  if (!Number.isFinite(expected)) return false;
  return Math.abs(actual - expected) <= absolute + relative * Math.abs(expected);
}
