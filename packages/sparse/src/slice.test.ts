import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../test/support.js";
import { datasetFromRows } from "./builder.js";
import { allocateShared } from "./layout.js";
import { forEachRow, maxEntriesOfRows, selectRows, sliceRows } from "./slice.js";

const rows = [
  {
    features: [
      [0, 1],
      [3, 2],
    ] as const,
    labels: [1],
  },
  { features: [], labels: [0, 2] },
  { features: [[1, -1]] as const, labels: [] },
];
const dataset = datasetFromRows(rows, { features: 7, labels: 5 });

describe("sliceRows and forEachRow", () => {
  it("visit the named rows in order, over the data set's own arrays", () => {
    const slice = sliceRows(dataset, Uint32Array.of(2, 0, 2));
    expect(slice.dataset).toBe(dataset);
    const visited: number[][] = [];
    forEachRow(slice, (...row) => visited.push(row));
    expect(visited).toEqual([
      [2, 2, 3, 3, 3],
      [0, 0, 2, 0, 1],
      [2, 2, 3, 3, 3],
    ]);
  });

  it("refuse rows that do not exist", () => {
    expect(() => sliceRows(dataset, Uint32Array.of(0, 3))).toThrow(RangeError);
    expect(() => selectRows(dataset, Uint32Array.of(3))).toThrow(RangeError);
  });
});

describe("selectRows", () => {
  it("copies the named rows in order, and keeps the shape", () => {
    const selected = selectRows(dataset, Uint32Array.of(2, 0, 2), allocateShared);
    expect(rowsOf(selected)).toEqual([rows[2], rows[0], rows[2]]);
    expect(selected.features.columns).toBe(7);
    expect(selected.labels.columns).toBe(5);
    expect(selected.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});

describe("maxEntriesOfRows", () => {
  it("is the largest sum that so many different rows have", () => {
    const lengths = fc.array(fc.nat(9), { maxLength: 8 });
    fc.assert(
      fc.property(lengths, fc.nat(10), (row, count) => {
        const offsets = Uint32Array.of(
          0,
          ...row.map((_, i) => row.slice(0, i + 1).reduce((a, b) => a + b, 0)),
        );
        let best = 0;
        for (let subset = 0; subset < 2 ** row.length; subset++) {
          const chosen = row.filter((_, i) => subset & (1 << i));
          if (chosen.length <= count)
            best = Math.max(
              best,
              chosen.reduce((a, b) => a + b, 0),
            );
        }
        expect(maxEntriesOfRows(offsets, count)).toBe(best);
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});
