import { type Allocate, allocatePrivate, createDataset } from "./layout.js";
import type { CsrMatrix, Dataset, LabelSets } from "./types.js";

/** Some rows of a data set, in some order, without a copy of them. */
export interface RowSlice<B extends ArrayBufferLike = ArrayBufferLike> {
  readonly dataset: Dataset<B>;
  /** Row numbers of the data set; a row may occur more than once. */
  readonly rowIds: Uint32Array;
}

/** A slice of the rows named by `rowIds`, which is used, not copied. */
export function sliceRows<B extends ArrayBufferLike>(
  dataset: Dataset<B>,
  rowIds: Uint32Array,
): RowSlice<B> {
  checkRowIds(dataset.rows, rowIds);
  return { dataset, rowIds };
}

function checkRowIds(rows: number, rowIds: Uint32Array): void {
  for (const row of rowIds) {
    if (row >= rows) throw new RangeError(`row ${row} of a data set of ${rows} rows`);
  }
}

/**
 * Calls `visit` for each row of a slice, in its order. Features are the entries `start … end − 1`
 * of `dataset.features`, labels `labelStart … labelEnd − 1` of `dataset.labels`.
 */
export function forEachRow(
  slice: RowSlice,
  visit: (row: number, start: number, end: number, labelStart: number, labelEnd: number) => void,
): void {
  const { offsets } = slice.dataset.features;
  const labelOffsets = slice.dataset.labels.offsets;
  for (const row of slice.rowIds) {
    visit(row, offsets[row]!, offsets[row + 1]!, labelOffsets[row]!, labelOffsets[row + 1]!);
  }
}

/**
 * A data set of its own that holds a copy of the rows named by `rowIds`, in their order.
 *
 * @throws SparseError `TOO_LARGE`, `OUT_OF_MEMORY`.
 */
export function selectRows(dataset: Dataset, rowIds: Uint32Array): Dataset<ArrayBuffer>;
export function selectRows<B extends ArrayBufferLike>(
  dataset: Dataset,
  rowIds: Uint32Array,
  allocate: Allocate<B>,
): Dataset<B>;
export function selectRows(
  dataset: Dataset,
  rowIds: Uint32Array,
  allocate: Allocate = allocatePrivate,
): Dataset {
  checkRowIds(dataset.rows, rowIds);
  const { features, labels } = dataset;
  const selected = createDataset(
    {
      rows: rowIds.length,
      features: features.columns,
      labels: labels.columns,
      nonZeros: entriesOf(features.offsets, rowIds),
      labelEntries: entriesOf(labels.offsets, rowIds),
    },
    allocate,
  );
  for (const [place, row] of rowIds.entries()) {
    copyRow(features, row, selected.features, place);
    copyRow(labels, row, selected.labels, place);
  }
  return selected;
}

function entriesOf(offsets: Uint32Array, rowIds: Uint32Array): number {
  let entries = 0;
  for (const row of rowIds) entries += offsets[row + 1]! - offsets[row]!;
  return entries;
}

function copyRow(
  source: LabelSets & Partial<CsrMatrix>,
  row: number,
  target: LabelSets & Partial<CsrMatrix>,
  place: number,
): void {
  const start = source.offsets[row]!;
  const end = source.offsets[row + 1]!;
  const at = target.offsets[place]!;
  target.indices.set(source.indices.subarray(start, end), at);
  target.values?.set(source.values!.subarray(start, end), at);
  target.offsets[place + 1] = at + end - start;
}

/**
 * The largest number of entries that any `count` different rows have together: with it a batch
 * buffer is made large enough for every batch that holds no row twice.
 *
 * @param offsets - row starts of a CSR matrix.
 */
export function maxEntriesOfRows(offsets: Uint32Array, count: number): number {
  const lengths = new Uint32Array(Math.max(0, offsets.length - 1));
  for (let row = 0; row < lengths.length; row++) lengths[row] = offsets[row + 1]! - offsets[row]!;
  lengths.sort();
  let entries = 0;
  for (const length of lengths.subarray(Math.max(0, lengths.length - count))) entries += length;
  return entries;
}
