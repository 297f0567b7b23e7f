import { createRandom } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { nonNegativeFit } from "./least-squares.js";

const random = createRandom(4);
const observations = (coefficients: readonly number[], noise: number) =>
  Array.from({ length: 60 }, () => {
    const values = coefficients.map((_, i) => 10 ** i * (1 + random.nextBelow(50)));
    const exact = values.reduce((sum, value, i) => sum + value * coefficients[i]!, 0);
    return { values, target: exact * (1 + noise * (random.nextFloat() - 0.5)) };
  });

test("finds what times were made of, through noise too", () => {
  const coefficients = [3e-4, 2e-5, 4e-7];
  const exact = nonNegativeFit(observations(coefficients, 0));
  coefficients.forEach((value, i) => expect(exact[i]! / value).toBeCloseTo(1, 6));
  const noisy = nonNegativeFit(observations(coefficients, 0.04));
  coefficients.forEach((value, i) => expect(Math.abs(noisy[i]! / value - 1)).toBeLessThan(0.15));
});

test("never takes time away, and tells columns that depend on each other apart by leaving one out", () => {
  const negative = observations([1, 0, 0], 0.3);
  for (const value of nonNegativeFit(negative)) expect(value).toBeGreaterThanOrEqual(0);
  const twins = [1, 2, 5].map((n) => ({ values: [n, 2 * n], target: 4 * n }));
  const [first = 0, second = 0] = nonNegativeFit(twins);
  expect(first + 2 * second).toBeCloseTo(4, 9);
  expect(Math.min(first, second)).toBe(0);
});
