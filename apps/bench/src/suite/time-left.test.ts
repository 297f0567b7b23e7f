import { expect, test } from "vitest";
import { durationWords, timeLeft } from "./time-left.js";

const run = (set: string, platform: string, algorithm: string) => ({ set, platform, algorithm });
const timed = (set: string, platform: string, algorithm: string, wallSeconds: number) => ({
  ...run(set, platform, algorithm),
  wallSeconds,
});

test("a run is taken to last as long as those most like it", () => {
  const finished = [
    timed("s", "p", "a", 10),
    timed("s", "p", "a", 20),
    timed("s", "p", "b", 45),
    timed("t", "p", "a", 125),
  ];
  expect(timeLeft([run("s", "p", "a")], finished, 1)).toBe(15);
  expect(timeLeft([run("s", "p", "c")], finished, 1)).toBe(25);
  expect(timeLeft([run("s", "q", "a")], finished, 1)).toBe(25);
  expect(timeLeft([run("u", "p", "a")], finished, 1)).toBe(50);
});

test("several at once share the time, but no run is shared out", () => {
  const finished = [timed("s", "p", "a", 10)];
  const remaining = Array.from({ length: 4 }, () => run("s", "p", "a"));
  expect(timeLeft(remaining, finished, 2)).toBe(20);
  expect(timeLeft(remaining.slice(1), finished, 4)).toBe(10);
});

test("nothing is known before the first run, and nothing is left after the last", () => {
  expect(timeLeft([run("s", "p", "a")], [], 1)).toBeNull();
  expect(timeLeft([], [], 1)).toBe(0);
  expect(timeLeft([], [timed("s", "p", "a", 1)], 2)).toBe(0);
});

test.each([
  [0.2, "1 s"],
  [89, "89 s"],
  [150, "3 min"],
  [5400, "1 h 30 min"],
])("%d seconds are told as %s", (seconds, words) => {
  expect(durationWords(seconds)).toBe(words);
});
