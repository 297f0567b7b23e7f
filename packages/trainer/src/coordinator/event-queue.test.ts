import { expect, test } from "vitest";
import { createEventQueue } from "./event-queue.js";

test("values come out in order, whether they or the reader came first", async () => {
  const queue = createEventQueue<number>();
  queue.push(1);
  queue.push(2);
  expect(await queue.next()).toBe(1);
  expect(await queue.next()).toBe(2);
  const third = queue.next();
  queue.push(3);
  queue.push(4);
  expect(await third).toBe(3);
  expect(await queue.next()).toBe(4);
});

test("a failure reaches the waiting reader and every later one, before values in line", async () => {
  const queue = createEventQueue<number>();
  const waiting = queue.next();
  queue.fail(new Error("first"));
  queue.fail(new Error("second"));
  queue.push(1);
  await expect(waiting).rejects.toThrow("first");
  await expect(queue.next()).rejects.toThrow("first");
});
