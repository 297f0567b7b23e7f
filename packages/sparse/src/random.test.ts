import { describe, expect, it } from "vitest";
import { createRandom, fillPermutation, restoreRandom, splitRows } from "./random.js";

/** Pearson's statistic of counts that should be equal. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe("createRandom", () => {
  it("repeats itself for equal seeds and streams, and differs for others", () => {
    const first = (...key: [number, ...number[]]) => {
      const random = createRandom(...key);
      return [random.nextUint32(), random.nextUint32()];
    };
    expect(first(1, 2)).toEqual(first(1, 2));
    const keys: [number, ...number[]][] = [
      [1],
      [2],
      [1, 0],
      [1, 1],
      [0, 1],
      [-1],
      [2 ** 32 + 1],
      [2 ** 52],
    ];
    expect(new Set(keys.map((key) => first(...key).join())).size).toBe(keys.length);
  });

  it("gives the numbers of xoshiro128** as its authors define them", () => {
    // Worked by hand from the definition: state 1, 2, 3, 4.
    const random = restoreRandom([1, 2, 3, 4]);
    // rotl(2 · 5, 7) · 9 = 11520; then the state is 7, 0, 1026, 12288.
    expect(random.nextUint32()).toBe(11_520);
    expect(random.state()).toEqual([7, 0, 1026, 12_288]);
    expect(random.nextUint32()).toBe(0);
    expect(random.state()).toEqual([12_295, 1029, 1029, 25_165_824]);
  });

  it("goes on from a saved state, between normal numbers too", () => {
    const random = createRandom(7, 3);
    random.nextGaussian();
    const copy = restoreRandom(random.state());
    expect([copy.nextGaussian(), copy.nextFloat(), copy.nextUint32()]).toEqual([
      random.nextGaussian(),
      random.nextFloat(),
      random.nextUint32(),
    ]);
  });

  it("draws whole numbers below a bound evenly, and nothing else", () => {
    const random = createRandom(11);
    const counts = Array.from({ length: 7 }, () => 0);
    for (let i = 0; i < 70_000; i++) counts[random.nextBelow(7)]!++;
    expect(chiSquare(counts)).toBeLessThan(22.5); // 0.1 % of 6 degrees of freedom
    expect(random.nextBelow(1)).toBe(0);
    expect(random.nextBelow(2 ** 32)).toBeLessThan(2 ** 32);
  });

  it("favours no numbers where the bound does not divide 2^32", () => {
    // Taking the remainder alone would draw the lower third twice as often as the rest.
    const random = createRandom(12);
    const bound = 3 * 2 ** 30;
    let low = 0;
    for (let i = 0; i < 9000; i++) if (random.nextBelow(bound) < bound / 3) low++;
    expect(Math.abs(low - 3000)).toBeLessThan(150);
  });

  it("draws numbers from 0 to 1, and normal ones of mean 0 and variance 1", () => {
    const random = createRandom(5);
    let outside = 0;
    let sum = 0;
    let normalSum = 0;
    let normalSquares = 0;
    const draws = 50_000;
    for (let i = 0; i < draws; i++) {
      const value = random.nextFloat();
      if (value < 0 || value >= 1) outside++;
      sum += value;
      const normal = random.nextGaussian();
      normalSum += normal;
      normalSquares += normal * normal;
    }
    expect(outside).toBe(0);
    expect(sum / draws).toBeCloseTo(0.5, 2);
    expect(normalSum / draws).toBeCloseTo(0, 1);
    expect(normalSquares / draws).toBeCloseTo(1, 1);
  });

  it("treats seeds, bounds and states that are none as programming errors", () => {
    expect(() => createRandom(0.5)).toThrow(RangeError);
    expect(() => createRandom(1, Number.NaN)).toThrow(RangeError);
    expect(() => createRandom(1).nextBelow(0)).toThrow(RangeError);
    expect(() => createRandom(1).nextBelow(2 ** 33)).toThrow(RangeError);
    expect(() => restoreRandom([0, 0, 0, 0])).toThrow(RangeError);
    expect(() => restoreRandom([1, 2, 3])).toThrow(RangeError);
  });
});

describe("fillPermutation", () => {
  const permutation = (length: number, seed: number, epoch: number) => {
    const target = new Uint32Array(length).fill(9);
    fillPermutation(target, seed, epoch);
    return [...target];
  };

  it("gives every row once, in an order of the seed, the epoch and the length alone", () => {
    const order = permutation(1000, 1, 0);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(permutation(1000, 1, 0)).toEqual(order);
    expect(permutation(1000, 1, 1)).not.toEqual(order);
    expect(permutation(1000, 2, 0)).not.toEqual(order);
    expect(permutation(0, 1, 0)).toEqual([]);
    expect(permutation(1, 1, 0)).toEqual([0]);
  });

  it("gives every order equally often", () => {
    const counts = new Map<string, number>();
    for (let epoch = 0; epoch < 12_000; epoch++) {
      const order = permutation(4, 3, epoch).join("");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    expect(chiSquare([...counts.values()])).toBeLessThan(49.7); // 0.1 % of 23 degrees of freedom
  });
});

describe("splitRows", () => {
  it("puts every row into one part, the wished number into the test part, both ascending", () => {
    const { train, test } = splitRows(1001, { testFraction: 0.2, seed: 42 });
    expect(test.length).toBe(200);
    expect([...train]).toEqual([...train].toSorted((a, b) => a - b));
    expect([...test]).toEqual([...test].toSorted((a, b) => a - b));
    expect(new Set([...train, ...test]).size).toBe(1001);
    expect(splitRows(1001, { testFraction: 0.2, seed: 42 }).test).toEqual(test);
    expect(splitRows(1001, { testFraction: 0.2, seed: 43 }).test).not.toEqual(test);
  });

  it("can leave either part empty, and refuses fractions that are none", () => {
    expect(splitRows(5, { testFraction: 0, seed: 1 }).test.length).toBe(0);
    expect(splitRows(5, { testFraction: 1, seed: 1 }).train.length).toBe(0);
    expect(() => splitRows(5, { testFraction: 1.5, seed: 1 })).toThrow(RangeError);
    expect(() => splitRows(5, { testFraction: Number.NaN, seed: 1 })).toThrow(RangeError);
  });
});
