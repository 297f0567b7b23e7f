import { createBatchBuffers, type BatchBuffers } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { createBatchFeed, type BatchSource } from "./batch-feed.js";

/** Kernels that tell what is asked of them, and work that takes until it is told to be done. */
function feedOf(buffers: number) {
  const log: string[] = [];
  const upload = (batch: { readonly rows: number; readonly labels: Uint32Array }, slot: 0 | 1) => {
    log.push(`upload ${batch.labels[0]} to ${slot}`);
    return { first: batch.labels[0], slot };
  };
  const batches = Array.from({ length: buffers }, () =>
    createBatchBuffers({ rows: 4, nonZeros: 4, labels: 4 }),
  );
  const feed = createBatchFeed({ upload }, batches);
  const work = async ({
    uploaded,
    rows,
    batch,
  }: {
    uploaded: unknown;
    rows: number;
    batch: BatchBuffers;
  }) => {
    const { first } = uploaded as { first: number };
    log.push(`begin ${first}, ${rows} rows`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(batch.labels[0]).toBe(first);
    log.push(`end ${first}`);
  };
  return { feed, log, work };
}

/** Rows numbered from `first` on, whose numbers stand among the labels. */
function rowsFrom(first: number, rows: number, batchRows: number): BatchSource {
  return {
    rows,
    batchRows,
    fill(batch, from, count) {
      batch.rows = count;
      for (let i = 0; i < count; i++) batch.labels[i] = first + from + i;
    },
  };
}

test("with two buffers a batch is uploaded into the other slot before the one in work is done", async () => {
  const { feed, log, work } = feedOf(2);
  await feed.forEach(rowsFrom(10, 5, 2), work);
  expect(log).toEqual([
    "upload 10 to 0",
    "begin 10, 2 rows",
    "upload 12 to 1",
    "end 10",
    "begin 12, 2 rows",
    "upload 14 to 0",
    "end 12",
    "begin 14, 1 rows",
    "end 14",
  ]);
});

test("with one buffer a batch is uploaded when the one before is done", async () => {
  const { feed, log, work } = feedOf(1);
  await feed.forEach(rowsFrom(10, 3, 2), work, () => rowsFrom(20, 2, 2));
  expect(log).toEqual([
    "upload 10 to 0",
    "begin 10, 2 rows",
    "end 10",
    "upload 12 to 0",
    "begin 12, 1 rows",
    "end 12",
  ]);
});

describe("what follows", () => {
  test("is uploaded while the last batch is in work, once, whatever comes between", async () => {
    const { feed, log, work } = feedOf(2);
    const next = rowsFrom(20, 4, 2);
    await feed.forEach(rowsFrom(10, 2, 2), work, () => next);
    await feed.forEach(rowsFrom(30, 1, 2), work, () => next);
    log.length = 0;
    await feed.forEach(next, work, () => null);
    expect(log).toEqual([
      "begin 20, 2 rows",
      "upload 22 to 0",
      "end 20",
      "begin 22, 2 rows",
      "end 22",
    ]);
  });

  test("is uploaded again where its slot was needed, and where something else comes in its place", async () => {
    const { feed, log, work } = feedOf(2);
    const next = rowsFrom(20, 2, 2);
    await feed.forEach(rowsFrom(10, 2, 2), work, () => next);
    await feed.forEach(rowsFrom(30, 4, 2), work);
    await feed.forEach(next, work, () => rowsFrom(40, 2, 2));
    await feed.forEach(rowsFrom(50, 1, 1), work);
    expect(log.filter((line) => !line.startsWith("end"))).toEqual([
      "upload 10 to 0",
      "begin 10, 2 rows",
      "upload 20 to 1",
      "upload 30 to 0",
      "begin 30, 2 rows",
      "upload 32 to 1",
      "begin 32, 2 rows",
      "upload 20 to 1",
      "begin 20, 2 rows",
      "upload 40 to 0",
      "upload 50 to 1",
      "begin 50, 1 rows",
    ]);
  });
});

test("what is known to follow only when the work is under way is uploaded then", async () => {
  const { feed, log, work } = feedOf(2);
  let next: BatchSource | null = null;
  const done = feed.forEach(rowsFrom(10, 2, 2), work, () => next);
  next = rowsFrom(20, 2, 2);
  feed.look();
  feed.look();
  expect(log.at(-1)).toBe("upload 20 to 1");
  await done;
  const { length } = log;
  feed.look();
  expect(log).toHaveLength(length);
});

test("work that fails is told, and a batch that can't be uploaded when its turn comes", async () => {
  const { feed, log, work } = feedOf(2);
  const failing = async () => {
    await Promise.resolve();
    throw new Error("the step failed");
  };
  await expect(feed.forEach(rowsFrom(10, 4, 2), failing)).rejects.toThrow("the step failed");
  const rows = rowsFrom(10, 4, 2);
  const broken: BatchSource = {
    ...rows,
    fill(batch, from, count) {
      if (from > 0) throw new Error("no such row");
      rows.fill(batch, from, count);
    },
  };
  await expect(feed.forEach(broken, failing)).rejects.toThrow("the step failed");
  await expect(feed.forEach(broken, work)).rejects.toThrow("no such row");
  expect(log.at(-1)).toBe("end 10");
  await feed.forEach(rows, work);
});
