/**
 * Rows under construction: arrays that double when they are full, so that n entries take at most
 * 2n of (mostly untouched) memory, and the same again for a moment when the data set is made.
 *
 * The text scanner writes into the arrays directly. Whoever appends an entry first makes room.
 */
import { SparseError } from "../errors.js";
import { type Allocate, allocateOrExplain, createDataset, MAX_COUNT } from "../layout.js";
import type { Dataset } from "../types.js";
import { findDuplicate, sortRow, sumDuplicates } from "./sort-row.js";

export interface GrowingRows {
  /** Complete rows. */
  rows: number;
  offsets: Uint32Array;
  indices: Uint32Array;
  values: Float32Array;
  nonZeros: number;
  labelOffsets: Uint32Array;
  labels: Uint32Array;
  labelEntries: number;
  /** 1 + the largest feature of the complete rows, 0 if there is none. */
  features: number;
  /** 1 + the largest label of the complete rows, 0 if there is none. */
  labelCount: number;
  rowsWithoutFeatures: number;
  rowsWithoutLabels: number;
  /** Largest number of rows, non-zeros or row–label pairs. */
  readonly limit: number;
}

const FIRST_LENGTH = 1024;

export function createGrowingRows(limit = MAX_COUNT): GrowingRows {
  return {
    rows: 0,
    offsets: new Uint32Array(FIRST_LENGTH),
    indices: new Uint32Array(FIRST_LENGTH),
    values: new Float32Array(FIRST_LENGTH),
    nonZeros: 0,
    labelOffsets: new Uint32Array(FIRST_LENGTH),
    labels: new Uint32Array(FIRST_LENGTH),
    labelEntries: 0,
    features: 0,
    labelCount: 0,
    rowsWithoutFeatures: 0,
    rowsWithoutLabels: 0,
    limit,
  };
}

function longer<A extends Uint32Array | Float32Array>(array: A, what: string, limit: number): A {
  if (array.length >= limit) {
    throw new SparseError(
      "TOO_LARGE",
      `more than ${limit} ${what}, the most that a data set holds (32-bit offsets). Split the data.`,
    );
  }
  const length = Math.min(2 * array.length, limit);
  const ArrayType = array.constructor as new (length: number) => A;
  const grown = allocateOrExplain((bytes) => new ArrayType(bytes / 4), 4 * length);
  grown.set(array);
  return grown;
}

/** Makes room for at least one more non-zero. */
export function growFeatures(rows: GrowingRows): void {
  rows.indices = longer(rows.indices, "non-zeros", rows.limit);
  rows.values = longer(rows.values, "non-zeros", rows.limit);
}

/** Makes room for at least one more label. */
export function growLabels(rows: GrowingRows): void {
  rows.labels = longer(rows.labels, "row-label pairs", rows.limit);
}

/** What is to be done about the entries of a row when it ends. */
export interface RowEnd {
  /** The features came in strictly ascending order. */
  readonly featuresSorted: boolean;
  readonly labelsSorted: boolean;
  /** Equal indices are added up, equal labels taken once; else they are refused. */
  readonly sumDuplicates: boolean;
  /** Called for the first index or label found twice, if these are refused. */
  readonly onDuplicate: (kind: "index" | "label", index: number) => never;
  /** Called where a sum of values is beyond float32. */
  readonly onOverflow: (index: number) => never;
}

/** Completes the row whose entries were appended since the last call. */
export function endRow(rows: GrowingRows, row: RowEnd): void {
  const start = rows.offsets[rows.rows]!;
  const labelStart = rows.labelOffsets[rows.rows]!;
  if (!row.featuresSorted) rows.nonZeros = tidyFeatures(rows, start, row);
  if (!row.labelsSorted) rows.labelEntries = tidyLabels(rows, labelStart, row);

  if (rows.nonZeros === start) rows.rowsWithoutFeatures++;
  else rows.features = Math.max(rows.features, rows.indices[rows.nonZeros - 1]! + 1);
  if (rows.labelEntries === labelStart) rows.rowsWithoutLabels++;
  else rows.labelCount = Math.max(rows.labelCount, rows.labels[rows.labelEntries - 1]! + 1);

  rows.rows++;
  if (rows.rows === rows.offsets.length) {
    rows.offsets = longer(rows.offsets, "rows", rows.limit);
    rows.labelOffsets = longer(rows.labelOffsets, "rows", rows.limit);
  }
  rows.offsets[rows.rows] = rows.nonZeros;
  rows.labelOffsets[rows.rows] = rows.labelEntries;
}

function tidyFeatures(rows: GrowingRows, start: number, row: RowEnd): number {
  const { indices, values, nonZeros: end } = rows;
  sortRow(indices, values, start, end);
  const duplicate = findDuplicate(indices, start, end);
  if (duplicate < 0) return end;
  if (!row.sumDuplicates) return row.onDuplicate("index", indices[duplicate]!);
  const newEnd = sumDuplicates(indices, values, start, end);
  for (let i = start; i < newEnd; i++) {
    if (!Number.isFinite(values[i])) row.onOverflow(indices[i]!);
  }
  return newEnd;
}

function tidyLabels(rows: GrowingRows, start: number, row: RowEnd): number {
  const { labels, labelEntries: end } = rows;
  sortRow(labels, null, start, end);
  const duplicate = findDuplicate(labels, start, end);
  if (duplicate < 0) return end;
  if (!row.sumDuplicates) return row.onDuplicate("label", labels[duplicate]!);
  return sumDuplicates(labels, null, start, end);
}

/**
 * Gives every label the number `numbers[label]`, one to one. Rows are sorted by the new numbers.
 */
export function renumberLabels(rows: GrowingRows, numbers: Uint32Array): void {
  const { labels, labelOffsets } = rows;
  for (let i = 0; i < rows.labelEntries; i++) labels[i] = numbers[labels[i]!]!;
  for (let row = 0; row < rows.rows; row++) {
    sortRow(labels, null, labelOffsets[row]!, labelOffsets[row + 1]!);
  }
}

/** Copies the rows into one buffer. The growing arrays are given up one by one on the way. */
export function toDataset<B extends ArrayBufferLike>(
  rows: GrowingRows,
  features: number,
  labels: number,
  allocate: Allocate<B>,
): Dataset<B> {
  const { nonZeros, labelEntries } = rows;
  const dataset = createDataset(
    { rows: rows.rows, features, labels, nonZeros, labelEntries },
    allocate,
  );
  const none = new Uint32Array(0);
  dataset.features.indices.set(rows.indices.subarray(0, nonZeros));
  rows.indices = none;
  dataset.features.values.set(rows.values.subarray(0, nonZeros));
  rows.values = new Float32Array(0);
  dataset.labels.indices.set(rows.labels.subarray(0, labelEntries));
  rows.labels = none;
  dataset.features.offsets.set(rows.offsets.subarray(0, rows.rows + 1));
  dataset.labels.offsets.set(rows.labelOffsets.subarray(0, rows.rows + 1));
  return dataset;
}
