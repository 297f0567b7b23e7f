import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTimeLimits, LONGEST_DELAY_MS } from "./time-limits.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const expired: string[] = [];
  const limits = createTimeLimits();
  const begin = (name: string, ms: number) =>
    limits.begin(ms, (after) => expired.push(`${name} after ${after}`));
  return { expired, begin };
}

test("each wait expires when its own time is up, in whatever order they began", () => {
  const { expired, begin } = setUp();
  begin("long", 300);
  begin("short", 100);
  vi.advanceTimersByTime(50);
  begin("middle", 150);
  vi.advanceTimersByTime(49);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["short after 100"]);
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(["short after 100", "middle after 150"]);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(["short after 100", "middle after 150", "long after 300"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what has ended does not expire, and the last end takes the timer away", () => {
  const { expired, begin } = setUp();
  const first = begin("first", 100);
  const second = begin("second", 200);
  expect(vi.getTimerCount()).toBe(1);
  first.end();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(150);
  second.end();
  expect(vi.getTimerCount()).toBe(0);
  second.end();
  begin("third", 100);
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["third after 100"]);
});

test("an expiry may begin and end other waits", () => {
  const { expired, begin } = setUp();
  const limits = createTimeLimits();
  const doomed = limits.begin(100, () => expired.push("doomed"));
  limits.begin(99, () => {
    doomed.end();
    begin("next", 10);
  });
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(["next after 10"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a limit that comes due while the process is stopped starts again", () => {
  const { expired, begin } = setUp();
  begin("wait", 100);
  const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 500);
  vi.advanceTimersByTime(100);
  now.mockRestore();
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(499);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(101);
  expect(expired).toEqual(["wait after 100"]);
});

test("a longer time than any timer has is that of the longest", () => {
  const { expired, begin } = setUp();
  vi.advanceTimersByTime(1.1);
  begin("wait", 1e12);
  vi.advanceTimersByTime(LONGEST_DELAY_MS - 1);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual([`wait after ${LONGEST_DELAY_MS}`]);
});
