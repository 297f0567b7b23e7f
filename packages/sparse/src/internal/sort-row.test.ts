import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDuplicate, sortRow, sumDuplicates } from "./sort-row.js";

describe("sortRow", () => {
  it("sorts pairs by index within its range, and leaves the rest alone", () => {
    const pairs = fc.uniqueArray(fc.nat(4_000_000_000), { maxLength: 900, size: "max" });
    fc.assert(
      fc.property(pairs, (row) => {
        const indices = Uint32Array.of(9, 7, ...row, 3, 1);
        const values = Float32Array.from(indices, (index) => index % 1000);
        sortRow(indices, values, 2, 2 + row.length);
        const sorted = Uint32Array.of(9, 7, ...row.toSorted((a, b) => a - b), 3, 1);
        expect(indices).toEqual(sorted);
        expect(values).toEqual(Float32Array.from(sorted, (index) => index % 1000));
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it("sorts without values", () => {
    const indices = Uint32Array.of(5, 3, 4);
    sortRow(indices, null, 0, 3);
    expect([...indices]).toEqual([3, 4, 5]);
  });
});

describe("findDuplicate and sumDuplicates", () => {
  it("find the second of equal indices, and add their values up", () => {
    const indices = Uint32Array.of(0, 1, 1, 4, 7, 7, 7);
    const values = Float32Array.of(9, 1, 2, 3, 4, 5, 6);
    expect(findDuplicate(indices, 0, 7)).toBe(2);
    expect(findDuplicate(indices, 2, 5)).toBe(-1);
    const end = sumDuplicates(indices, values, 1, 7);
    expect(end).toBe(4);
    expect([...indices.subarray(0, end)]).toEqual([0, 1, 4, 7]);
    expect([...values.subarray(0, end)]).toEqual([9, 3, 3, 15]);
  });
});
