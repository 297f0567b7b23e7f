import { describe, expect, it } from "vitest";
import { errorOf } from "../../test/support.js";
import { allocatePrivate } from "../layout.js";
import { createGrowingRows, endRow, growFeatures, growLabels, toDataset } from "./growing-rows.js";

const rowEnd = {
  featuresSorted: true,
  labelsSorted: true,
  sumDuplicates: false,
  onDuplicate(): never {
    throw new Error("unexpected duplicate");
  },
  onOverflow(): never {
    throw new Error("unexpected overflow");
  },
};

describe("growing rows", () => {
  it("keep what they hold when they grow", () => {
    const rows = createGrowingRows();
    for (let row = 0; row < 5000; row++) {
      if (rows.nonZeros === rows.indices.length) growFeatures(rows);
      rows.indices[rows.nonZeros] = row;
      rows.values[rows.nonZeros] = row / 2;
      rows.nonZeros++;
      endRow(rows, rowEnd);
    }
    const { features } = toDataset(rows, rows.features, 0, allocatePrivate);
    expect(features.columns).toBe(5000);
    expect(features.indices).toEqual(Uint32Array.from({ length: 5000 }, (_, i) => i));
    expect(features.values).toEqual(Float32Array.from({ length: 5000 }, (_, i) => i / 2));
    expect(features.offsets).toEqual(Uint32Array.from({ length: 5001 }, (_, i) => i));
  });

  it("refuse more non-zeros, labels or rows than offsets can count, naming the limit", () => {
    const limit = 1500;
    const features = createGrowingRows(limit);
    growFeatures(features);
    expect(features.indices.length).toBe(limit);
    const tooMany = errorOf(() => growFeatures(features));
    expect(tooMany.code).toBe("TOO_LARGE");
    expect(tooMany.message).toContain("more than 1500 non-zeros");

    const labels = createGrowingRows(limit);
    growLabels(labels);
    expect(errorOf(() => growLabels(labels)).code).toBe("TOO_LARGE");

    const rows = createGrowingRows(limit);
    const fill = () => {
      for (let row = 0; row < 2 * limit; row++) endRow(rows, rowEnd);
    };
    expect(errorOf(fill).code).toBe("TOO_LARGE");
  });
});
