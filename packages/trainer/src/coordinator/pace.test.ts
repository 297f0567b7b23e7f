import { expect, test } from "vitest";
import { createPace } from "./pace.js";

test("before anything is measured an answer may take ten minutes", () => {
  expect(createPace().begin(100)).toBe(600_000);
});

test("a slow device may take twenty times its slowest pace over all that is queued", () => {
  const pace = createPace();
  pace.begin(100);
  pace.end(100);
  pace.measured(100, 50);
  pace.measured(100, 10);
  expect(pace.begin(100)).toBe(20 * 50 * 1000);
  expect(pace.begin(100)).toBe(20 * 100 * 1000);
});

test("a fast device is not given up within a minute", () => {
  const pace = createPace();
  pace.measured(1000, 0.001);
  expect(pace.begin(10)).toBe(60_000);
});
