import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import { createFeed, type FeedState } from "./feed.js";

/** A response that takes what it is sent, unless it is told to be slow. */
function viewer() {
  const written: string[] = [];
  const it = Object.assign(new EventEmitter(), {
    writableNeedDrain: false,
    isDestroyed: false,
    isEnded: false,
    write: (part: Buffer | string) => written.push(String(part)),
    end(part: Buffer | string) {
      written.push(String(part));
      it.isEnded = true;
      setImmediate(() => it.emit("close"));
    },
    destroy() {
      it.isDestroyed = true;
      it.emit("close");
    },
  });
  const states = () =>
    written
      .filter((part) => part.startsWith("event: run\n"))
      .map((part) => {
        expect(part).toMatch(/^event: run\ndata: .*\n\n$/u);
        return JSON.parse(part.split("\ndata: ")[1]!) as FeedState;
      });
  return { it, response: it as unknown as ServerResponse, written, states };
}

const start = {
  at: 0,
  type: "start",
  algorithm: "sync",
  seed: 1,
  shape: { features: 3, hidden: [2], labels: 2, activation: "relu", loss: "softmax" },
  trainRows: 10,
  evaluationRows: 5,
  parameters: 12,
  devices: [{ device: 0, name: "device 0 (cpu)", kernels: "wasm" }],
};
const done = (at: number) => ({
  at,
  type: "done",
  device: 0,
  rows: [{ epoch: 0, start: 0, count: 5 }],
  nonZeros: 9,
  seconds: 0.1,
  loss: 4,
});
const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 5 });

test("whoever comes has all that happened with the first message, whenever it comes", async () => {
  const feed = createFeed({ everyMs: 5 });
  const early = viewer();
  feed.add(early.response);
  expect(early.written[0]).toBe("retry: 1000\n\n");
  expect(early.states()).toEqual([{ phase: "starting", run: null }]);
  feed.begin("first");
  feed.event(start);
  feed.event(done(1));
  await soon(() => expect(early.states().at(-1)?.run?.rows).toBe(5));
  const late = viewer();
  feed.add(late.response);
  expect(late.states()).toEqual([early.states().at(-1)]);
  expect(late.states()[0]).toMatchObject({ phase: "running", run: { name: "first" } });
  await feed.end();
});

test("many events are one message, and without any there is none", async () => {
  const feed = createFeed({ everyMs: 20 });
  feed.begin("run");
  feed.event(start);
  const one = viewer();
  feed.add(one.response);
  for (let at = 1; at <= 1000; at++) feed.event(done(at));
  await soon(() => expect(one.states()).toHaveLength(2));
  expect(one.states()[1]?.run?.rows).toBe(5000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(one.states()).toHaveLength(2);
  await feed.end();
});

test("who is slow misses messages, and has the newest once it can take one", async () => {
  const feed = createFeed({ everyMs: 5 });
  feed.begin("run");
  feed.event(start);
  const [slow, quick] = [viewer(), viewer()];
  feed.add(slow.response);
  feed.add(quick.response);
  slow.it.writableNeedDrain = true;
  for (let at = 1; at <= 5; at++) {
    feed.event(done(at));
    await soon(() => expect(quick.states().at(-1)?.run?.rows).toBe(5 * at));
  }
  expect(slow.states()).toHaveLength(1);
  slow.it.writableNeedDrain = false;
  await soon(() => expect(slow.states()).toHaveLength(2));
  expect(slow.states()[1]?.run?.rows).toBe(25);
  await feed.end();
});

test("who takes nothing for long is sent away", async () => {
  const feed = createFeed({ everyMs: 5, patienceMs: 30 });
  const stuck = viewer();
  feed.add(stuck.response);
  stuck.it.writableNeedDrain = true;
  await soon(() => expect(stuck.it.isDestroyed).toBe(true));
  await feed.end();
  expect(stuck.it.isEnded).toBe(false);
});

test("the end is told to all, and waits for nobody for long", async () => {
  const feed = createFeed({ everyMs: 5 });
  feed.begin("run");
  feed.event(start);
  const [one, deaf] = [viewer(), viewer()];
  deaf.it.end = () => undefined;
  feed.add(one.response);
  feed.add(deaf.response);
  feed.event({ at: 3, type: "end", reason: "epochs", devices: [] });
  const began = performance.now();
  await feed.end();
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(one.states().at(-1)).toMatchObject({ phase: "ended", run: { reason: "epochs" } });
});

test("there are only so many viewers at once", async () => {
  const feed = createFeed();
  const all = Array.from({ length: 32 }, viewer);
  for (const { response } of all) {
    expect(feed.isFull()).toBe(false);
    feed.add(response);
  }
  expect(feed.isFull()).toBe(true);
  all[5]!.it.emit("close");
  expect(feed.isFull()).toBe(false);
  await feed.end();
});
