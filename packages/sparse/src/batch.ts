import { allocateOrExplain, allocatePrivate, allocateShared } from "./layout.js";
import type { Dataset } from "./types.js";

/**
 * Rows copied together for one training step. The arrays are allocated once for the largest batch;
 * only the first `rows + 1` offsets, and what they cover, count.
 */
export interface BatchBuffers {
  /** Number of rows in it now. */
  rows: number;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Float32Array;
  readonly labelOffsets: Uint32Array;
  readonly labels: Uint32Array;
}

/**
 * Room for batches of up to `rows` rows, `nonZeros` feature values and `labels` row–label pairs in
 * all (see `maxEntriesOfRows`).
 *
 * @param shared - take `SharedArrayBuffer`s.
 * @throws SparseError `OUT_OF_MEMORY`.
 */
export function createBatchBuffers(
  capacity: { readonly rows: number; readonly nonZeros: number; readonly labels: number },
  shared = false,
): BatchBuffers {
  const allocate = shared ? allocateShared : allocatePrivate;
  const words = (length: number) =>
    new Uint32Array(allocateOrExplain<ArrayBufferLike>(allocate, 4 * length));
  return {
    rows: 0,
    offsets: words(capacity.rows + 1),
    indices: words(capacity.nonZeros),
    values: new Float32Array(words(capacity.nonZeros).buffer),
    labelOffsets: words(capacity.rows + 1),
    labels: words(capacity.labels),
  };
}

/**
 * Copies rows `rowIds[start] … rowIds[start + count − 1]` into `batch`, which then has `at + count`
 * rows: `at` = 0 replaces what is in it, `at` = `batch.rows` appends. Allocates nothing.
 *
 * @throws RangeError if they do not fit; the batch keeps the first `at` rows then.
 */
export function gatherBatch(
  dataset: Dataset,
  rowIds: Uint32Array,
  start: number,
  count: number,
  batch: BatchBuffers,
  at = 0,
): void {
  const { offsets, indices, values } = dataset.features;
  const { offsets: labelOffsets, indices: labels } = dataset.labels;
  if (start < 0 || count < 0 || start + count > rowIds.length) {
    throw new RangeError(`rows ${start} to ${start + count} of a list of ${rowIds.length}`);
  }
  if (at < 0 || at > batch.rows || at + count >= batch.offsets.length) {
    throw new RangeError(
      `${count} rows at ${at} into a batch of ${batch.rows}, with room for ${batch.offsets.length - 1}`,
    );
  }
  batch.rows = at;
  if (at === 0) {
    batch.offsets[0] = 0;
    batch.labelOffsets[0] = 0;
  }
  let entry = batch.offsets[at]!;
  let labelEntry = batch.labelOffsets[at]!;
  for (let i = 0; i < count; i++) {
    const row = rowIds[start + i]!;
    if (row >= dataset.rows) throw new RangeError(`row ${row} of a data set of ${dataset.rows}`);
    const from = offsets[row]!;
    const to = offsets[row + 1]!;
    const labelFrom = labelOffsets[row]!;
    const labelTo = labelOffsets[row + 1]!;
    if (entry + to - from > batch.indices.length) {
      throw new RangeError(`the batch has room for ${batch.indices.length} non-zeros only`);
    }
    if (labelEntry + labelTo - labelFrom > batch.labels.length) {
      throw new RangeError(`the batch has room for ${batch.labels.length} row-label pairs only`);
    }
    for (let j = from; j < to; j++, entry++) {
      batch.indices[entry] = indices[j]!;
      batch.values[entry] = values[j]!;
    }
    for (let j = labelFrom; j < labelTo; j++, labelEntry++) batch.labels[labelEntry] = labels[j]!;
    batch.offsets[at + i + 1] = entry;
    batch.labelOffsets[at + i + 1] = labelEntry;
  }
  batch.rows = at + count;
}
