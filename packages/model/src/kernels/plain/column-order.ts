import type { Batch } from "../contract.js";
import { makeUint32, reusable } from "./arrays.js";

/**
 * A batch's non-zeros, feature by feature, in the order in which features first occur in the batch.
 */
export interface ColumnOrder {
  /** Number of different features. */
  readonly count: number;
  /** The features. */
  readonly columns: Uint32Array;
  /**
   * The non-zeros of `columns[i]` are entries `ends[i − 1]` (0 at first) to `ends[i]` (exclusive)
   * of the two arrays below.
   */
  readonly ends: Uint32Array;
  readonly rows: Uint32Array;
  readonly values: Float32Array;
}

/**
 * Makes a function that sorts a batch by column. It keeps its buffers, 4 bytes a feature among
 * them; the result is valid until the next call.
 */
export function createColumnOrder(): (batch: Batch, features: number) => ColumnOrder {
  const slotsOf = reusable(makeUint32);
  const columnsOf = reusable(makeUint32);
  const endsOf = reusable(makeUint32);
  const rowsOf = reusable(makeUint32);
  const valuesOf = reusable((length) => new Float32Array(length));

  return (batch, features) => {
    const { offsets, indices } = batch;
    const begin = offsets[0]!;
    const end = offsets[batch.rows]!;
    // One more than a feature's position in `columns`; all zero between calls.
    const slots = slotsOf(features);
    const columns = columnsOf(end - begin);
    const ends = endsOf(end - begin);
    const rows = rowsOf(end - begin);
    const values = valuesOf(end - begin);

    let count = 0;
    for (let i = begin; i < end; i++) {
      const feature = indices[i]!;
      if (slots[feature] === 0) {
        columns[count] = feature;
        ends[count] = 0;
        slots[feature] = ++count;
      }
      const slot = slots[feature]! - 1;
      ends[slot] = ends[slot]! + 1;
    }

    // Counts become starts, which the filling below moves on to ends.
    let sum = 0;
    for (let slot = 0; slot < count; slot++) {
      const size = ends[slot]!;
      ends[slot] = sum;
      sum += size;
    }
    for (let row = 0; row < batch.rows; row++) {
      for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
        const slot = slots[indices[i]!]! - 1;
        const position = ends[slot]!;
        ends[slot] = position + 1;
        rows[position] = row;
        values[position] = batch.values[i]!;
      }
    }
    for (let slot = 0; slot < count; slot++) slots[columns[slot]!] = 0;
    return { count, columns, ends, rows, values };
  };
}
