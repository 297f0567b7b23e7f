import { expect, it } from "vitest";
import { probability } from "./scores.js";

it("a softmax probability is the exponential of the logit's distance to the normaliser", () => {
  expect(probability(Math.log(3), Math.log(4), "softmax")).toBeCloseTo(0.75, 12);
  expect(probability(1000, 1000, "softmax")).toBe(1);
});

it("a sigmoid probability doesn't depend on the normaliser and never overflows", () => {
  expect(probability(0, 123, "sigmoid")).toBe(0.5);
  expect(probability(1000, 0, "sigmoid")).toBe(1);
  expect(probability(-1000, 0, "sigmoid")).toBe(0);
  expect(probability(-2, 0, "sigmoid")).toBeCloseTo(1 / (1 + Math.exp(2)), 12);
});
