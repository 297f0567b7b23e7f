import {
  createGrowingRows,
  endRow,
  growFeatures,
  growLabels,
  type GrowingRows,
  toDataset,
} from "./internal/growing-rows.js";
import { SparseError } from "./errors.js";
import { type Allocate, allocatePrivate, MAX_COUNT } from "./layout.js";
import type { CsrMatrix, Dataset } from "./types.js";

/** One row: features as `[index, value]` in any order, labels in any order. */
export interface RowInput {
  readonly features: readonly (readonly [index: number, value: number])[];
  readonly labels: readonly number[];
}

export interface BuilderOptions {
  /** Number of features. Default: 1 + the largest index. */
  readonly features?: number;
  /** Number of labels. Default: 1 + the largest label. */
  readonly labels?: number;
  /** Whether equal indices in a row are refused or their values added up. Default `"error"`. */
  readonly duplicates?: "error" | "sum";
}

/** Makes a data set row by row; its arrays double as they fill. */
export interface DatasetBuilder {
  /**
   * Adds a row. One that is refused leaves nothing behind: others may follow.
   *
   * @throws SparseError `DUPLICATE_INDEX`, `DUPLICATE_LABEL`, `TOO_LARGE`, `OUT_OF_MEMORY`.
   */
  addRow(row: RowInput): void;
  /** The data set. The builder is empty and useless afterwards. */
  finish(): Dataset<ArrayBuffer>;
  finish<B extends ArrayBufferLike>(allocate: Allocate<B>): Dataset<B>;
}

/**
 * A builder of data sets. Values are rounded to float32; indices out of range and values that are
 * not finite are `RangeError`s.
 */
export function createDatasetBuilder(options: BuilderOptions = {}): DatasetBuilder {
  const { features, labels, duplicates = "error" } = options;
  const rows = createGrowingRows();
  const rowEnd = {
    featuresSorted: false,
    labelsSorted: false,
    sumDuplicates: duplicates === "sum",
    onDuplicate(kind: "index" | "label", index: number): never {
      throw new SparseError(
        kind === "index" ? "DUPLICATE_INDEX" : "DUPLICATE_LABEL",
        `${kind} ${index} occurs twice in row ${rows.rows}. Remove one, or merge them with duplicates: "sum".`,
      );
    },
    onOverflow(index: number): never {
      throw new RangeError(`row ${rows.rows}: values of index ${index} add up beyond float32`);
    },
  };

  return {
    addRow(row) {
      dropOpenRow(rows);
      for (const [index, value] of row.features) {
        checkIndex("index", index, features);
        if (!Number.isFinite(Math.fround(value))) {
          throw new RangeError(`value ${value} of index ${index} is not a finite float32`);
        }
        if (rows.nonZeros === rows.indices.length) growFeatures(rows);
        rows.indices[rows.nonZeros] = index;
        rows.values[rows.nonZeros] = value;
        rows.nonZeros++;
      }
      for (const label of row.labels) {
        checkIndex("label", label, labels);
        if (rows.labelEntries === rows.labels.length) growLabels(rows);
        rows.labels[rows.labelEntries] = label;
        rows.labelEntries++;
      }
      endRow(rows, rowEnd);
    },
    finish(allocate: Allocate = allocatePrivate): Dataset<ArrayBuffer> {
      dropOpenRow(rows);
      const built = toDataset(rows, features ?? rows.features, labels ?? rows.labelCount, allocate);
      return built as Dataset<ArrayBuffer>; // the overloads say which buffer it is
    },
  };
}

/** Forgets what a row that was refused has left behind. */
function dropOpenRow(rows: GrowingRows): void {
  rows.nonZeros = rows.offsets[rows.rows]!;
  rows.labelEntries = rows.labelOffsets[rows.rows]!;
}

function checkIndex(kind: string, index: number, bound = MAX_COUNT): void {
  if (!Number.isInteger(index) || index < 0 || index >= bound) {
    throw new RangeError(`${kind} ${index} is not a whole number from 0 to ${bound - 1}`);
  }
}

/**
 * A data set of rows given as plain arrays, for tests and small uses.
 *
 * @throws SparseError as `DatasetBuilder`.
 */
export function datasetFromRows(
  rows: Iterable<RowInput>,
  options: BuilderOptions = {},
): Dataset<ArrayBuffer> {
  const builder = createDatasetBuilder(options);
  for (const row of rows) builder.addRow(row);
  return builder.finish();
}

/**
 * A matrix of rows given as `[index, value]` pairs. It lies in one buffer, as `createCsr` makes it.
 *
 * @throws SparseError as `DatasetBuilder`.
 */
export function csrFromRows(
  rows: Iterable<RowInput["features"]>,
  options: { readonly columns?: number } = {},
): CsrMatrix<ArrayBuffer> {
  const { columns } = options;
  const builder = createDatasetBuilder(columns === undefined ? {} : { features: columns });
  for (const features of rows) builder.addRow({ features, labels: [] });
  return builder.finish().features;
}
