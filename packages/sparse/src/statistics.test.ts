import { describe, expect, it } from "vitest";
import { datasetFromRows } from "./builder.js";
import { datasetStatistics } from "./statistics.js";

describe("datasetStatistics", () => {
  it("counts what is in the rows", () => {
    const dataset = datasetFromRows(
      [
        {
          features: [
            [0, 0.5],
            [3, -2],
            [4, 0],
          ],
          labels: [0],
        },
        { features: [], labels: [0, 1, 2] },
        { features: [[3, 7]], labels: [] },
        { features: [], labels: [0, 2] },
      ],
      { features: 10, labels: 6 },
    );
    expect(datasetStatistics(dataset)).toEqual({
      rows: 4,
      features: 10,
      labels: 6,
      nonZeros: 4,
      labelEntries: 6,
      density: 0.1,
      bytes: dataset.buffer.byteLength,
      rowLengths: { min: 0, max: 3, mean: 1 },
      labelsOfRows: { min: 0, max: 3, mean: 1.5 },
      rowsWithoutFeatures: 2,
      rowsWithoutLabels: 1,
      featuresNeverSeen: 7,
      labelsNeverSeen: 3,
      labelsSeenOnce: 1,
      explicitZeros: 1,
      values: { min: -2, max: 7 },
      labelFrequencies: [
        { from: 1, to: 1, labels: 1 },
        { from: 2, to: 3, labels: 2 },
      ],
    });
  });

  it("needs no counter for every one of four thousand million features", () => {
    const features = 2 ** 32 - 1;
    const dataset = datasetFromRows(
      [
        {
          features: [
            [5, 1],
            [features - 1, 1],
          ],
          labels: [7],
        },
        { features: [[5, 1]], labels: [] },
      ],
      { features, labels: features },
    );
    const statistics = datasetStatistics(dataset);
    expect(statistics.featuresNeverSeen).toBe(features - 2);
    expect(statistics.labelsNeverSeen).toBe(features - 1);
    expect(statistics.labelsSeenOnce).toBe(1);
  });

  it("is defined for no rows and no entries", () => {
    const statistics = datasetStatistics(datasetFromRows([], { features: 0, labels: 0 }));
    expect(statistics.density).toBe(0);
    expect(statistics.rowLengths).toEqual({ min: 0, max: 0, mean: 0 });
    expect(statistics.values).toBeNull();
    expect(statistics.labelFrequencies).toEqual([]);
  });
});
