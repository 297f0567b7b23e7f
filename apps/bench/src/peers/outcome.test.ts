import { expect, test } from "vitest";
import { bestPrecision, rowsPerSecond, secondsTo, type Outcome } from "./outcome.js";

const outcome: Outcome = {
  milestones: [
    { rows: 100, seconds: 2, precision: 0.2 },
    { rows: 200, seconds: 4, precision: 0.5 },
    { rows: 300, seconds: 5, precision: 0.4 },
  ],
  peak: null,
  stopped: false,
};

test("speed is over the whole training, precision the best of it", () => {
  expect(rowsPerSecond(outcome)).toBe(60);
  expect(bestPrecision(outcome)).toBe(0.5);
});

test("a precision is reached at the first evaluation that has it, or never", () => {
  expect(secondsTo(0.2, outcome)).toBe(2);
  expect(secondsTo(0.3, outcome)).toBe(4);
  expect(secondsTo(0.6, outcome)).toBe(Infinity);
});

test("who was not evaluated reaches nothing", () => {
  const silent = { ...outcome, milestones: [{ rows: 10, seconds: 1, precision: null }] };
  expect(bestPrecision(silent)).toBeNull();
  expect(secondsTo(0, silent)).toBe(Infinity);
});
