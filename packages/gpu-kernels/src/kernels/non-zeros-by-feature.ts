/** Room for sorting, which grows and is kept. */
export interface SortRoom {
  readonly sort: (
    rows: number,
    offsets: Uint32Array,
    indices: Uint32Array,
    values: Float32Array,
    out: NonZerosByFeature,
  ) => number;
}

/**
 * A batch's non-zeros, feature by feature: those of `features[slot]` are entries `starts[slot]` to
 * `starts[slot + 1]` of `entryRows` and `entryValues`, rows ascending.
 */
export interface NonZerosByFeature {
  readonly features: Uint32Array;
  readonly starts: Uint32Array;
  readonly entryRows: Uint32Array;
  readonly entryValues: Float32Array;
}

const digitBits = 11;
const digits = 2 ** digitBits;

/** Words that a room for so many non-zeros takes. */
export const sortWords = (nonZeros: number): number => digits + 3 * nonZeros;

/** A stable radix sort of the non-zeros. `sort` returns the number of different features. */
export function createSortRoom(): SortRoom {
  const starts = new Uint32Array(digits);
  let order = new Uint32Array(0);
  let next = new Uint32Array(0);
  let rowOf = new Uint32Array(0);

  /** Puts `order` in the order of a digit of the features. */
  function sortBy(shift: number, indices: Uint32Array, count: number): void {
    starts.fill(0);
    for (let i = 0; i < count; i++) {
      const digit = (indices[i]! >>> shift) & (digits - 1);
      starts[digit] = starts[digit]! + 1;
    }
    let sum = 0;
    for (let digit = 0; digit < digits; digit++) {
      const size = starts[digit]!;
      starts[digit] = sum;
      sum += size;
    }
    for (let i = 0; i < count; i++) {
      const entry = order[i]!;
      const digit = (indices[entry]! >>> shift) & (digits - 1);
      const place = starts[digit]!;
      starts[digit] = place + 1;
      next[place] = entry;
    }
    [order, next] = [next, order];
  }

  return {
    sort(rows, offsets, indices, values, out) {
      const count = offsets[rows]!;
      if (order.length < count) {
        order = new Uint32Array(count);
        next = new Uint32Array(count);
        rowOf = new Uint32Array(count);
      }
      let largest = 0;
      for (let row = 0; row < rows; row++) {
        const end = offsets[row + 1]!;
        for (let i = offsets[row]!; i < end; i++) {
          order[i] = i;
          rowOf[i] = row;
          if (indices[i]! > largest) largest = indices[i]!;
        }
      }
      for (let shift = 0; shift < 32 && largest >>> shift > 0; shift += digitBits) {
        sortBy(shift, indices, count);
      }

      let features = 0;
      for (let i = 0; i < count; i++) {
        const entry = order[i]!;
        const feature = indices[entry]!;
        if (features === 0 || out.features[features - 1] !== feature) {
          out.features[features] = feature;
          out.starts[features++] = i;
        }
        out.entryRows[i] = rowOf[entry]!;
        out.entryValues[i] = values[entry]!;
      }
      out.starts[features] = count;
      return features;
    },
  };
}
