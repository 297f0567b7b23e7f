import { expect, test } from "vitest";
import { createStopwatch } from "./stopwatch.js";

test("time between activities is waiting, and all time from the first one on is accounted for", () => {
  let now = 10;
  const stopwatch = createStopwatch(() => now);
  now = 12;
  stopwatch.begin();
  now = 15;
  expect(stopwatch.end("training")).toBe(3);
  now = 15.5;
  stopwatch.begin();
  now = 16;
  expect(stopwatch.end("merging")).toBe(0.5);
  expect(stopwatch.usage()).toEqual({ training: 3, merging: 0.5, evaluating: 0, waiting: 0.5 });
});
