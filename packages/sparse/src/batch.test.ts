import { describe, expect, it } from "vitest";
import { type BatchBuffers, createBatchBuffers, gatherBatch } from "./batch.js";
import { datasetFromRows } from "./builder.js";

const dataset = datasetFromRows([
  {
    features: [
      [0, 1],
      [3, 2],
    ],
    labels: [1],
  },
  { features: [], labels: [0, 2] },
  {
    features: [
      [1, -1],
      [2, 4],
      [5, 6],
    ],
    labels: [],
  },
]);
const order = Uint32Array.of(2, 0, 1, 2);

function contents(batch: BatchBuffers) {
  const { rows, offsets, labelOffsets, indices, values, labels } = batch;
  return {
    offsets: [...offsets.subarray(0, rows + 1)],
    indices: [...indices.subarray(0, offsets[rows])],
    values: [...values.subarray(0, offsets[rows])],
    labelOffsets: [...labelOffsets.subarray(0, rows + 1)],
    labels: [...labels.subarray(0, labelOffsets[rows])],
  };
}

describe("gatherBatch", () => {
  it("copies a range of the listed rows together", () => {
    const batch = createBatchBuffers({ rows: 3, nonZeros: 10, labels: 10 });
    gatherBatch(dataset, order, 0, 3, batch);
    expect(contents(batch)).toEqual({
      offsets: [0, 3, 5, 5],
      indices: [1, 2, 5, 0, 3],
      values: [-1, 4, 6, 1, 2],
      labelOffsets: [0, 0, 1, 3],
      labels: [1, 0, 2],
    });
  });

  it("replaces what was there, and forgets rows that are no longer in it", () => {
    const batch = createBatchBuffers({ rows: 4, nonZeros: 10, labels: 10 });
    gatherBatch(dataset, order, 0, 4, batch);
    gatherBatch(dataset, order, 1, 1, batch);
    expect(contents(batch)).toEqual({
      offsets: [0, 2],
      indices: [0, 3],
      values: [1, 2],
      labelOffsets: [0, 1],
      labels: [1],
    });
    gatherBatch(dataset, order, 0, 0, batch);
    expect(batch.rows).toBe(0);
    expect(contents(batch).offsets).toEqual([0]);
  });

  it("appends further ranges", () => {
    const whole = createBatchBuffers({ rows: 4, nonZeros: 8, labels: 3 }, true);
    gatherBatch(dataset, order, 0, 4, whole);
    const pieces = createBatchBuffers({ rows: 4, nonZeros: 8, labels: 3 });
    gatherBatch(dataset, order, 0, 1, pieces);
    gatherBatch(dataset, order, 1, 2, pieces, pieces.rows);
    gatherBatch(dataset, order, 3, 1, pieces, pieces.rows);
    expect(contents(pieces)).toEqual(contents(whole));
    expect(whole.values.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it("refuses what does not fit or does not exist", () => {
    const batch = (rows: number, nonZeros: number, labels: number) =>
      createBatchBuffers({ rows, nonZeros, labels });
    const gather =
      (target: ReturnType<typeof batch>, start: number, count: number, at?: number) => () =>
        gatherBatch(dataset, order, start, count, target, at);
    expect(gather(batch(2, 10, 10), 0, 3)).toThrow(
      "3 rows at 0 into a batch of 0, with room for 2",
    );
    expect(gather(batch(3, 4, 10), 0, 3)).toThrow("room for 4 non-zeros");
    expect(gather(batch(3, 10, 2), 0, 3)).toThrow("room for 2 row-label pairs");
    const full = batch(3, 4, 10);
    gatherBatch(dataset, order, 1, 1, full);
    expect(gather(full, 0, 1, 1)).toThrow("room for 4 non-zeros");
    expect(contents(full).indices).toEqual([0, 3]);
    expect(gather(full, 0, 3)).toThrow("room for 4 non-zeros");
    expect(full.rows).toBe(0);
    expect(gather(batch(9, 99, 99), 2, 3)).toThrow("rows 2 to 5 of a list of 4");
    expect(gather(batch(9, 99, 99), -1, 1)).toThrow(RangeError);
    expect(gather(batch(9, 99, 99), 0, 1, 1)).toThrow("1 rows at 1 into a batch of 0");
    expect(() => gatherBatch(dataset, Uint32Array.of(3), 0, 1, batch(9, 99, 99))).toThrow(
      "row 3 of a data set of 3",
    );
  });
});
