import { describe, expect, it } from "vitest";
import { errorOf, rowsOf } from "../test/support.js";
import { createDatasetBuilder, csrFromRows, datasetFromRows } from "./builder.js";
import { SparseError } from "./errors.js";
import { allocateShared } from "./layout.js";

describe("datasetFromRows", () => {
  it("sorts features and labels within each row", () => {
    const dataset = datasetFromRows([
      {
        features: [
          [7, 1],
          [2, -0.5],
        ],
        labels: [4, 1],
      },
      { features: [], labels: [] },
    ]);
    expect(rowsOf(dataset)).toEqual([
      {
        features: [
          [2, -0.5],
          [7, 1],
        ],
        labels: [1, 4],
      },
      { features: [], labels: [] },
    ]);
    expect(dataset.features.columns).toBe(8);
    expect(dataset.labels.columns).toBe(5);
  });

  it("refuses what occurs twice in a row, or merges it", () => {
    const features = [
      {
        features: [
          [3, 1],
          [3, 2],
        ] as const,
        labels: [],
      },
    ];
    const labels = [{ features: [], labels: [5, 5] }];
    expect(errorOf(() => datasetFromRows(features)).code).toBe("DUPLICATE_INDEX");
    expect(errorOf(() => datasetFromRows(labels)).code).toBe("DUPLICATE_LABEL");
    const merged = datasetFromRows([...features, ...labels], { duplicates: "sum" });
    expect(rowsOf(merged)).toEqual([
      { features: [[3, 3]], labels: [] },
      { features: [], labels: [5] },
    ]);
  });

  it("refuses indices out of range and values that are not finite float32", () => {
    const one = (index: number, value: number) => () =>
      datasetFromRows([{ features: [[index, value]], labels: [] }], { features: 4 });
    expect(one(3, 1)).not.toThrow();
    for (const index of [4, -1, 0.5, Number.NaN]) expect(one(index, 1)).toThrow(RangeError);
    for (const value of [Number.NaN, Infinity, 1e39]) expect(one(0, value)).toThrow(RangeError);
    expect(() => datasetFromRows([{ features: [], labels: [2] }], { labels: 2 })).toThrow(
      RangeError,
    );
    const sum = [
      {
        features: [
          [0, 3e38],
          [0, 3e38],
        ] as const,
        labels: [],
      },
    ];
    expect(() => datasetFromRows(sum, { duplicates: "sum" })).toThrow(RangeError);
  });
});

describe("createDatasetBuilder", () => {
  it("goes on after a row that it refused", () => {
    const builder = createDatasetBuilder();
    builder.addRow({ features: [[3, 1]], labels: [2] });
    expect(() => builder.addRow({ features: [[5, 1]], labels: [0, 0] })).toThrow(SparseError);
    const features = [[7, 1] as const, [8, Number.NaN] as const];
    expect(() => builder.addRow({ features, labels: [] })).toThrow(RangeError);
    builder.addRow({ features: [[1, 2]], labels: [] });
    expect(() => builder.addRow({ features: [], labels: [4, -1] })).toThrow(RangeError);
    const dataset = builder.finish();
    expect(rowsOf(dataset)).toEqual([
      { features: [[3, 1]], labels: [2] },
      { features: [[1, 2]], labels: [] },
    ]);
    expect(dataset.labels.indices).toEqual(Uint32Array.of(2));
  });

  it("builds into the caller's memory", () => {
    const builder = createDatasetBuilder({ features: 3, labels: 2 });
    builder.addRow({ features: [[1, 2]], labels: [0] });
    const dataset = builder.finish(allocateShared);
    expect(dataset.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(rowsOf(dataset)).toEqual([{ features: [[1, 2]], labels: [0] }]);
  });
});

describe("csrFromRows", () => {
  it("takes the number of columns from the largest index unless told", () => {
    expect(csrFromRows([[[6, 1]]]).columns).toBe(7);
    expect(csrFromRows([[[6, 1]]], { columns: 10 }).columns).toBe(10);
  });
});
