import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { parallel } from "./parallel.js";

test("as many as told are under way at once, and each item once", async () => {
  let under = 0;
  let most = 0;
  const seen: number[] = [];
  await parallel([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++under);
    await setImmediate();
    seen.push(item);
    under--;
  });
  expect(most).toBe(2);
  expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
});

test("after a failure none is begun, and those under way are waited for", async () => {
  const ended: number[] = [];
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await setImmediate();
    if (item === 1) throw new Error("broken");
    await setImmediate();
    ended.push(item);
  };
  await expect(parallel([1, 2, 3, 4], 2, work)).rejects.toThrow("broken");
  expect(begun).toEqual([1, 2]);
  expect(ended).toEqual([2]);
});
