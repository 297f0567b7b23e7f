import { expect, test } from "vitest";
import { createClock, finishTime } from "./clock.js";

test("things happen in the order of their times, those at one time as they were asked for", async () => {
  const clock = createClock();
  const happened: string[] = [];
  // A permutation of 0 … 99 with each number twice.
  for (let i = 0; i < 200; i++) {
    const at = ((i * 37) % 200) >> 1;
    clock.schedule(at, () => void happened.push(`${at}:${clock.now()}:${i}`));
  }
  while (await clock.advance());
  const parts = happened.map((text) => text.split(":").map(Number));
  expect(parts.length).toBe(200);
  for (const [i, [at, now, order]] of parts.entries()) {
    expect(now).toBe(at);
    const [before, , earlier] = parts[i - 1] ?? [-1, -1, -1];
    expect(at! > before! || order! > earlier!).toBe(true);
  }
  expect(() => clock.schedule(5, () => undefined)).toThrow(RangeError);
});

test("work goes on at the speeds that come", () => {
  expect(finishTime([[0, 1]], 3, 2)).toBe(5);
  expect(finishTime([[0, 2]], 3, 2)).toBe(4);
  // One second at 1, then the other one at a quarter.
  expect(
    finishTime(
      [
        [0, 1],
        [4, 0.25],
      ],
      3,
      2,
    ),
  ).toBe(8);
  expect(
    finishTime(
      [
        [0, 1],
        [2, 0.5],
        [4, 4],
      ],
      1,
      6,
    ),
  ).toBe(5);
  expect(
    finishTime(
      [
        [0, 1],
        [2, 0.5],
      ],
      10,
      1,
    ),
  ).toBe(12);
});
