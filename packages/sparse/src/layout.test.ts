import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { errorOf, rowsOf } from "../test/support.js";
import { csrFromRows, datasetFromRows } from "./builder.js";
import { SparseError } from "./errors.js";
import {
  allocateShared,
  createCsr,
  createDataset,
  csrFrom,
  datasetBytes,
  datasetFrom,
} from "./layout.js";

const rows = [
  {
    features: [
      [1, 0.5],
      [4, -2],
    ] as const,
    labels: [0, 2],
  },
  { features: [], labels: [1] },
  { features: [[0, 3]] as const, labels: [] },
];

/** The code of the error that a buffer gets, if it gets one. */
function verdict(buffer: ArrayBuffer): string {
  try {
    datasetFrom(buffer);
    return "a data set";
  } catch (error) {
    if (error instanceof SparseError) return error.code;
    throw error;
  }
}

function sample() {
  return datasetFromRows(rows, { features: 6, labels: 3 });
}

describe("createDataset", () => {
  it("lays five arrays of the right lengths into one zeroed buffer of the announced size", () => {
    const counts = { rows: 3, features: 10, labels: 4, nonZeros: 5, labelEntries: 2 };
    const dataset = createDataset(counts);
    expect(dataset.buffer.byteLength).toBe(datasetBytes(counts));
    expect(dataset.features.offsets).toEqual(new Uint32Array(4));
    expect(dataset.features.indices).toEqual(new Uint32Array(5));
    expect(dataset.features.values).toEqual(new Float32Array(5));
    expect(dataset.labels.offsets).toEqual(new Uint32Array(4));
    expect(dataset.labels.indices).toEqual(new Uint32Array(2));
    expect(dataset.features.columns).toBe(10);
    expect(dataset.labels.columns).toBe(4);
    const { features, labels } = dataset;
    for (const array of [
      features.offsets,
      features.indices,
      features.values,
      labels.offsets,
      labels.indices,
    ]) {
      expect(array.buffer).toBe(dataset.buffer);
      expect(array.byteOffset % 64).toBe(0);
    }
  });

  it("takes memory from the caller, shared where wanted", () => {
    const counts = { rows: 1, features: 1, labels: 1, nonZeros: 1, labelEntries: 1 };
    expect(createDataset(counts, allocateShared).buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  it.each(["rows", "features", "labels", "nonZeros", "labelEntries"] as const)(
    "refuses 2^32 %s before it allocates anything",
    (name) => {
      const counts = {
        rows: 1,
        features: 1,
        labels: 1,
        nonZeros: 1,
        labelEntries: 1,
        [name]: 2 ** 32,
      };
      const error = errorOf(() =>
        createDataset(counts, () => {
          throw new Error("allocated");
        }),
      );
      expect(error.code).toBe("TOO_LARGE");
      expect(error.message).toContain(`${name} is 4294967296`);
      expect(error.message).toContain("4294967295");
    },
  );

  it("says how much memory is missing", () => {
    const counts = { rows: 1, features: 1, labels: 1, nonZeros: 10, labelEntries: 1 };
    const refuse = (): ArrayBuffer => {
      throw new RangeError("Array buffer allocation failed");
    };
    const error = errorOf(() => createDataset(counts, refuse));
    expect(error.code).toBe("OUT_OF_MEMORY");
    expect(error.message).toContain(`${datasetBytes(counts)} bytes`);
  });

  it("treats counts that are no counts as programming errors", () => {
    const counts = { rows: 1.5, features: 1, labels: 1, nonZeros: 1, labelEntries: 1 };
    expect(() => createDataset(counts)).toThrow(RangeError);
    expect(() => createDataset({ ...counts, rows: -1 })).toThrow(RangeError);
  });
});

describe("datasetFrom", () => {
  it("rebuilds the same data set over the same buffer", () => {
    const { buffer } = sample();
    const rebuilt = datasetFrom(buffer);
    expect(rebuilt.features.values.buffer).toBe(buffer);
    expect(rebuilt.features.columns).toBe(6);
    expect(rebuilt.labels.columns).toBe(3);
    expect(rowsOf(rebuilt)).toEqual(rows);
  });

  it("refuses buffers that are too short, foreign, of another version or length", () => {
    const { buffer } = sample();
    const changed = (word: number, value: number) => {
      const copy = buffer.slice(0);
      new Uint32Array(copy)[word] = value;
      return copy;
    };
    for (const [bad, expected] of [
      [new ArrayBuffer(0), "header of 64 bytes"],
      [new ArrayBuffer(63), "header of 64 bytes"],
      [new ArrayBuffer(640), "magic"],
      [changed(1, 2), "version 1, received 2"],
      [changed(2, 1000), "received"],
      [changed(5, 2 ** 32 - 1), "received"],
      [buffer.slice(0, buffer.byteLength - 4), "received"],
    ] as const) {
      const error = errorOf(() => datasetFrom(bad));
      expect(error.code).toBe("BAD_BUFFER");
      expect(error.message).toContain(expected);
    }
  });

  it("refuses offsets that fall, leave the arrays or do not cover them", () => {
    for (const offsets of [
      [0, 3, 2, 3],
      [0, 9, 9, 3],
      [1, 2, 2, 3],
      [0, 2, 2, 2],
    ]) {
      const dataset = sample();
      dataset.features.offsets.set(offsets);
      expect(errorOf(() => datasetFrom(dataset.buffer)).code).toBe("BAD_BUFFER");
    }
    const labels = sample();
    labels.labels.offsets.set([0, 4, 3, 3]);
    expect(errorOf(() => datasetFrom(labels.buffer)).message).toContain("label offsets");
  });

  it("refuses indices out of bounds or out of order, unless the buffer is trusted", () => {
    for (const indices of [
      [1, 6, 0],
      [4, 1, 0],
      [1, 1, 0],
    ]) {
      const dataset = sample();
      dataset.features.indices.set(indices);
      expect(errorOf(() => datasetFrom(dataset.buffer)).message).toContain(
        "feature indices below 6",
      );
      expect(datasetFrom(dataset.buffer, { trusted: true }).rows).toBe(3);
    }
    const dataset = sample();
    dataset.labels.indices[2] = 3;
    expect(errorOf(() => datasetFrom(dataset.buffer)).message).toContain("label indices below 3");
  });

  it("refuses values that are not finite", () => {
    for (const value of [Number.NaN, Infinity, -Infinity]) {
      const dataset = sample();
      dataset.features.values[2] = value;
      expect(errorOf(() => datasetFrom(dataset.buffer)).message).toContain(
        `finite values, received ${value} as number 2`,
      );
    }
  });

  it("answers every corruption of one word with a data set or a coded error", () => {
    const { buffer } = sample();
    const words = buffer.byteLength / 4;
    fc.assert(
      fc.property(fc.nat(words - 1), fc.nat(2 ** 32 - 1), (word, value) => {
        const copy = buffer.slice(0);
        new Uint32Array(copy)[word] = value;
        expect(["a data set", "BAD_BUFFER"]).toContain(verdict(copy));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });
});

describe("a matrix alone", () => {
  it("lies in one buffer and is rebuilt from it", () => {
    const matrix = csrFromRows(
      [
        [
          [2, 1],
          [0, 5],
        ],
        [],
      ],
      { columns: 4 },
    );
    expect([...matrix.indices]).toEqual([0, 2]);
    expect([...matrix.values]).toEqual([5, 1]);
    expect(csrFrom(matrix.offsets.buffer)).toEqual(matrix);
  });

  it("is allocated as the caller says", () => {
    const matrix = createCsr({ rows: 2, columns: 3, nonZeros: 4 }, allocateShared);
    expect(matrix.values.length).toBe(4);
    expect(matrix.values.buffer).toBeInstanceOf(SharedArrayBuffer);
  });
});

describe("shared memory", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is refused with the reason where a page has none", () => {
    vi.stubGlobal("SharedArrayBuffer", undefined);
    const empty = { rows: 0, features: 0, labels: 0, nonZeros: 0, labelEntries: 0 };
    expect(() => createDataset(empty, allocateShared)).toThrow("cross-origin isolated");
  });
});
