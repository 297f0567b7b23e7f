import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { l2Norm, normalizedMerge, sliceFor, weightedSum } from "./index.js";

/** Values that make rounding show. */
function array(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => Math.sin(seed * 100 + i * 1.7) * 10 ** (i % 5));
}

const arrays = (count: number, length: number) =>
  Array.from({ length: count }, (_, k) => array(length, k + 1));

const coefficientsFor = (count: number) => Array.from({ length: count }, (_, k) => 0.3 - k / 7);

describe("the weighted sum", () => {
  it.each([1, 2, 3, 4, 5, 8])("of %i sources is taken in order and rounded once", (count) => {
    const sources = arrays(count, 37);
    const coefficients = coefficientsFor(count);
    const target = new Float32Array(37).fill(7);
    weightedSum(target, sources, coefficients);
    target.forEach((value, i) => {
      const exact = sources
        .map((source, k) => (coefficients[k] ?? 0) * (source[i] ?? 0))
        .reduce((total, term) => total + term);
      expect(value).toBe(Math.fround(exact));
    });
  });

  it("of no sources is zero", () => {
    const target = array(5, 1);
    weightedSum(target, [], [], 1, 4);
    expect([...target.subarray(1, 4)]).toEqual([0, 0, 0]);
    expect(target[0]).not.toBe(0);
    expect(target[4]).not.toBe(0);
  });

  it("may be written over any of its sources", () => {
    for (const overwritten of [0, 1, 2]) {
      const sources = arrays(3, 20);
      const expected = new Float32Array(20);
      weightedSum(expected, sources, [0.5, 0.25, -2]);
      weightedSum(sources[overwritten]!, sources, [0.5, 0.25, -2]);
      expect(sources[overwritten]).toEqual(expected);
    }
  });

  it("leaves everything outside of the range as it is", () => {
    const target = new Float32Array(6).fill(9);
    weightedSum(target, [Float32Array.of(1, 2, 3, 4, 5, 6)], [2], 2, 4);
    expect([...target]).toEqual([9, 9, 6, 8, 9, 9]);
  });

  it("shows a source that is not finite, even at a coefficient of 0", () => {
    for (const count of [1, 2, 3, 4, 6]) {
      const sources = arrays(count, 3);
      sources.at(-1)![1] = Number.NaN;
      const target = new Float32Array(3);
      weightedSum(
        target,
        sources,
        Array.from({ length: count }, () => 0),
      );
      expect([...target].map(Number.isNaN)).toEqual([false, true, false]);
    }
  });

  it("equals the whole to the last bit when it is computed in slices", () => {
    const property = fc.property(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 0, max: 6 }),
      (length, shares, count) => {
        const sources = arrays(count, length);
        const coefficients = coefficientsFor(count);
        const whole = new Float32Array(length);
        const pieces = new Float32Array(length);
        weightedSum(whole, sources, coefficients);
        for (let share = 0; share < shares; share++) {
          const { start, end } = sliceFor(share, shares, length);
          weightedSum(pieces, sources, coefficients, start, end);
        }
        expect(pieces).toEqual(whole);
      },
    );
    fc.assert(property, { seed: 13 });
  });

  it("merges with momentum: w' = Σ p_i w_i + γ (w̄ − w̄⁻)", () => {
    const { weigh, momentum } = normalizedMerge({ momentum: 0.5 });
    const { weights } = weigh(
      [
        { updates: 3, batchRows: 8, norm: null },
        { updates: 1, batchRows: 8, norm: null },
      ],
      2,
    );
    const [first, second] = [Float32Array.of(4, 8), Float32Array.of(0, -8)];
    const [global, previous] = [Float32Array.of(1, 2), Float32Array.of(3, -2)];
    const next = new Float32Array(2);
    weightedSum(next, [first, second, global, previous], [...weights, momentum, -momentum]);
    // 0.75·4 + 0.25·0 + 0.5·(1 − 3) and 0.75·8 − 0.25·8 + 0.5·(2 + 2).
    expect([...next]).toEqual([2, 6]);
  });

  it("works on shared memory", () => {
    const shared = new Float32Array(new SharedArrayBuffer(8));
    weightedSum(shared, [Float32Array.of(1, 2)], [3]);
    expect([...shared]).toEqual([3, 6]);
  });

  it("refuses counts that differ and arrays that end too early", () => {
    const target = new Float32Array(4);
    expect(() => weightedSum(target, [target], [])).toThrow(RangeError);
    expect(() => weightedSum(target, [new Float32Array(3)], [1])).toThrow(RangeError);
    expect(() => weightedSum(target, [], [], 0, 5)).toThrow(RangeError);
    expect(() => weightedSum(target, [], [], 3, 2)).toThrow(RangeError);
    expect(() => weightedSum(target, [], [], -1, 2)).toThrow(RangeError);
  });
});

describe("the norm", () => {
  it("is the root of the sum of squares, of any number of elements", () => {
    expect(l2Norm(new Float32Array(0))).toBe(0);
    expect(l2Norm(Float32Array.of(3, -4))).toBe(5);
    for (const length of [1, 5, 6, 7, 8, 1000]) {
      const values = array(length, 3);
      const squares = [...values].map((value) => value * value);
      const expected = Math.sqrt(squares.reduce((total, square) => total + square, 0));
      expect(l2Norm(values) / expected).toBeCloseTo(1, 13);
    }
  });

  it("neither overflows nor loses small elements in float32", () => {
    expect(l2Norm(Float32Array.of(3e38, 3e38))).toBeGreaterThan(4e38);
    const many = new Float32Array(1_000_001).fill(1e-4);
    many[0] = 1;
    expect(l2Norm(many)).toBeCloseTo(Math.sqrt(1.01), 8);
  });

  it("is not a number for an array that has diverged", () => {
    expect(l2Norm(Float32Array.of(1, Number.NaN))).toBeNaN();
  });
});

describe("slices", () => {
  it("cover everything once, in order, with borders at multiples of the alignment", () => {
    const property = fc.property(
      fc.nat(5000),
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(1, 16, 64),
      (length, count, align) => {
        let covered = 0;
        for (let index = 0; index < count; index++) {
          const { start, end } = sliceFor(index, count, length, align);
          expect(start).toBe(covered);
          expect(end).toBeGreaterThanOrEqual(start);
          expect(end === length || end % align === 0).toBe(true);
          expect(end - start).toBeLessThanOrEqual(length / count + align);
          covered = end;
        }
        expect(covered).toBe(length);
      },
    );
    fc.assert(property, { seed: 17 });
  });

  it("are worked out by hand for three shares of 100 elements", () => {
    expect([0, 1, 2].map((index) => sliceFor(index, 3, 100))).toEqual([
      { start: 0, end: 32 },
      { start: 32, end: 64 },
      { start: 64, end: 100 },
    ]);
  });

  it("refuse a share that does not exist", () => {
    expect(() => sliceFor(3, 3, 10)).toThrow(RangeError);
    expect(() => sliceFor(-1, 3, 10)).toThrow(RangeError);
    expect(() => sliceFor(0, 0, 10)).toThrow(RangeError);
  });
});
