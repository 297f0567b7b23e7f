import { createRandom } from "@heterosgd/sparse";
import { describe, expect, it } from "vitest";
import { madeUpBatch, nonZerosOf } from "./made-up-batches.js";

describe.each(["uniform", "log-uniform"] as const)("madeUpBatch, %s", (draw) => {
  const shape = { rows: 300, features: 10_000, classes: 500, nonZeros: 40, draw };
  const batch = madeUpBatch(createRandom(1), shape);

  it("is the same for the same seed, and another for another", () => {
    expect(madeUpBatch(createRandom(1), shape)).toEqual(batch);
    expect(madeUpBatch(createRandom(2), shape)).not.toEqual(batch);
  });

  it("has rows of unit length with the wished numbers of features and labels", () => {
    expect(nonZerosOf(batch) / batch.rows).toBeCloseTo(40, -1);
    expect(batch.labels.length / batch.rows).toBeGreaterThan(2.2);
    expect(batch.labels.length / batch.rows).toBeLessThan(2.8);
    for (let row = 0; row < batch.rows; row++) {
      const values = batch.values.subarray(batch.offsets[row], batch.offsets[row + 1]);
      expect(Math.hypot(...values)).toBeCloseTo(1, 5);
    }
  });

  it("is a valid batch: indices and labels ascend within a row, below their bounds", () => {
    const parts = [
      [batch.offsets, batch.indices, shape.features],
      [batch.labelOffsets, batch.labels, shape.classes],
    ] as const;
    for (const [offsets, ids, bound] of parts) {
      for (let row = 0; row < batch.rows; row++) {
        const part = [...ids.subarray(offsets[row], offsets[row + 1])];
        expect(part.length).toBeGreaterThan(0);
        expect(part).toEqual([...new Set(part)].toSorted((a, b) => a - b));
        expect(part.at(-1)).toBeLessThan(bound);
      }
    }
  });
});

it("log-uniform rows share their features more than uniform ones", () => {
  const different = (["uniform", "log-uniform"] as const).map((draw) => {
    const shape = { rows: 100, features: 10_000, classes: 10, nonZeros: 40, draw };
    return new Set(madeUpBatch(createRandom(1), shape).indices).size;
  });
  expect(different[1]).toBeLessThan(different[0]! / 1.5);
});

it("refuses rows that would take all features", () => {
  const shape = { rows: 1, features: 100, classes: 10, nonZeros: 40, draw: "uniform" } as const;
  expect(() => madeUpBatch(createRandom(1), shape)).toThrow(RangeError);
});
