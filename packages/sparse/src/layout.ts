/**
 * The one buffer of a data set: 64 bytes of header (sixteen little-endian 32-bit words: magic,
 * version, then the five counts), then the arrays of `SECTIONS`, each aligned to 64 bytes.
 * Offsets, indices and values have 32 bits, so every count is below 2³².
 */
import { SparseError } from "./errors.js";
import type { CsrMatrix, Dataset } from "./types.js";

const MAGIC = 0x44534748; // "HGSD" where the machine is little-endian, as all that run this are
const VERSION = 1;
const HEADER_BYTES = 64;
const ALIGNMENT = 64;

/** Largest count of rows, features, labels, non-zeros or row–label pairs: 2³² − 1. */
export const MAX_COUNT = 2 ** 32 - 1;

/** What determines the size of a data set. */
export interface DatasetCounts {
  readonly rows: number;
  /** Number of features (columns of the matrix). */
  readonly features: number;
  /** Number of labels (columns of the label sets). */
  readonly labels: number;
  /** Number of stored feature values. */
  readonly nonZeros: number;
  /** Number of row–label pairs. */
  readonly labelEntries: number;
}

/** Takes memory: `bytes` zeroed bytes, as an `ArrayBuffer` or a `SharedArrayBuffer`. */
export type Allocate<B extends ArrayBufferLike = ArrayBufferLike> = (bytes: number) => B;

/** Allocates an `ArrayBuffer`. */
export const allocatePrivate: Allocate<ArrayBuffer> = (bytes) => new ArrayBuffer(bytes);

/** Allocates a `SharedArrayBuffer`, which threads can use in common. */
export const allocateShared: Allocate<SharedArrayBuffer> = (bytes) => {
  if (typeof SharedArrayBuffer === "undefined") {
    throw new TypeError(
      "there is no SharedArrayBuffer here; a page needs to be cross-origin isolated for shared memory",
    );
  }
  return new SharedArrayBuffer(bytes);
};

const COUNT_NAMES = ["rows", "features", "labels", "nonZeros", "labelEntries"] as const;

/** Lengths of the five arrays, in the order in which they lie in the buffer. */
function sections(counts: DatasetCounts): readonly number[] {
  const { rows, nonZeros, labelEntries } = counts;
  return [rows + 1, rows + 1, nonZeros, nonZeros, labelEntries];
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function checkCounts(counts: DatasetCounts): void {
  for (const name of COUNT_NAMES) {
    const count = counts[name];
    if (!Number.isInteger(count) || count < 0) {
      throw new RangeError(`${name} must be a whole number from 0 on, received ${count}`);
    }
    if (count > MAX_COUNT) {
      throw new SparseError(
        "TOO_LARGE",
        `${name} is ${count}, but a data set holds at most ${MAX_COUNT} (32-bit offsets). Split the data.`,
      );
    }
  }
}

/**
 * The size of a data set's buffer in bytes.
 *
 * @throws SparseError `TOO_LARGE` if a count is above 2³² − 1.
 */
export function datasetBytes(counts: DatasetCounts): number {
  checkCounts(counts);
  return sections(counts).reduce((bytes, length) => bytes + align(4 * length), HEADER_BYTES);
}

/** @throws SparseError `OUT_OF_MEMORY` where the machine refuses. */
export function allocateOrExplain<B>(allocate: (bytes: number) => B, bytes: number): B {
  try {
    return allocate(bytes);
  } catch (cause) {
    // Not a lack of room: a page without cross-origin isolation has no SharedArrayBuffer at all.
    if (!(cause instanceof RangeError)) throw cause;
    throw new SparseError(
      "OUT_OF_MEMORY",
      `no room for ${bytes} bytes (${(bytes / 2 ** 30).toFixed(2)} GiB). Use fewer rows or more memory.`,
      { cause },
    );
  }
}

function viewsOf<B extends ArrayBufferLike>(counts: DatasetCounts, buffer: B): Dataset<B> {
  let start = HEADER_BYTES;
  const [offsetsAt, labelOffsetsAt, indicesAt, valuesAt, labelsAt] = sections(counts).map(
    (length) => {
      const at = start;
      start += align(4 * length);
      return at;
    },
  );
  const { rows, features, labels, nonZeros, labelEntries } = counts;
  return {
    rows,
    features: {
      rows,
      columns: features,
      offsets: new Uint32Array(buffer, offsetsAt, rows + 1),
      indices: new Uint32Array(buffer, indicesAt, nonZeros),
      values: new Float32Array(buffer, valuesAt, nonZeros),
    },
    labels: {
      rows,
      columns: labels,
      offsets: new Uint32Array(buffer, labelOffsetsAt, rows + 1),
      indices: new Uint32Array(buffer, labelsAt, labelEntries),
    },
    buffer,
  };
}

/**
 * Allocates a data set whose arrays are all zero, for the caller to fill.
 *
 * @throws SparseError `TOO_LARGE` if a count is above 2³² − 1, before anything is allocated;
 *   `OUT_OF_MEMORY`.
 */
export function createDataset(counts: DatasetCounts): Dataset<ArrayBuffer>;
export function createDataset<B extends ArrayBufferLike>(
  counts: DatasetCounts,
  allocate: Allocate<B>,
): Dataset<B>;
export function createDataset(
  counts: DatasetCounts,
  allocate: Allocate = allocatePrivate,
): Dataset {
  const buffer = allocateOrExplain(allocate, datasetBytes(counts));
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  header.set([MAGIC, VERSION, ...COUNT_NAMES.map((name) => counts[name])]);
  return viewsOf(counts, buffer);
}

export interface DatasetFromOptions {
  /**
   * The buffer was filled by this program and is known to be right: only its header and length are
   * looked at, which takes no time. Default false: every offset, index and value is checked.
   */
  readonly trusted?: boolean;
}

/**
 * The data set in a buffer that `createDataset` laid out, without a copy. Nothing in the buffer is
 * believed before it is checked (see `trusted`), so it may come from a file or another program.
 *
 * @throws SparseError `BAD_BUFFER` if it holds no data set, or a broken one.
 */
export function datasetFrom<B extends ArrayBufferLike>(
  buffer: B,
  options: DatasetFromOptions = {},
): Dataset<B> {
  const { trusted = false } = options;
  if (buffer.byteLength < HEADER_BYTES) {
    throw badBuffer(`a header of ${HEADER_BYTES} bytes, received ${buffer.byteLength} bytes`);
  }
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  const [magic, version, rows = 0, features = 0, labels = 0, nonZeros = 0, labelEntries = 0] =
    header;
  if (magic !== MAGIC) {
    throw badBuffer(`the magic word ${MAGIC.toString(16)}, received ${magic?.toString(16)}`);
  }
  if (version !== VERSION) {
    throw badBuffer(`layout version ${VERSION}, received ${version}`);
  }
  const counts = { rows, features, labels, nonZeros, labelEntries };
  const bytes = datasetBytes(counts);
  if (buffer.byteLength !== bytes) {
    throw badBuffer(
      `${bytes} bytes for the counts in its header, received ${buffer.byteLength} bytes`,
    );
  }
  const dataset = viewsOf(counts, buffer);
  if (!trusted) {
    checkEntries("feature", dataset.features);
    checkEntries("label", dataset.labels);
    checkValues(dataset.features.values);
  }
  return dataset;
}

function badBuffer(expected: string): SparseError {
  return new SparseError("BAD_BUFFER", `the buffer is no data set: expected ${expected}.`);
}

function checkEntries(kind: string, matrix: Omit<CsrMatrix, "values">): void {
  const { rows, columns, offsets, indices } = matrix;
  if (offsets[0] !== 0 || offsets[rows] !== indices.length) {
    throw badBuffer(
      `${kind} offsets from 0 to ${indices.length}, received ${offsets[0]} to ${offsets[rows]}`,
    );
  }
  let start = 0;
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    if (end < start || end > indices.length) {
      throw badBuffer(`ascending ${kind} offsets, received ${end} after ${start} in row ${row}`);
    }
    let previous = -1;
    for (let entry = start; entry < end; entry++) {
      const index = indices[entry]!;
      if (index <= previous || index >= columns) {
        throw badBuffer(
          `ascending ${kind} indices below ${columns}, received ${index} in row ${row}`,
        );
      }
      previous = index;
    }
    start = end;
  }
}

function checkValues(values: Float32Array): void {
  for (let entry = 0; entry < values.length; entry++) {
    if (!Number.isFinite(values[entry])) {
      throw badBuffer(`finite values, received ${values[entry]} as number ${entry}`);
    }
  }
}

/**
 * Allocates a matrix alone: the layout of a data set without labels.
 *
 * @throws SparseError as `createDataset`.
 */
export function createCsr(counts: {
  readonly rows: number;
  readonly columns: number;
  readonly nonZeros: number;
}): CsrMatrix<ArrayBuffer>;
export function createCsr<B extends ArrayBufferLike>(
  counts: { readonly rows: number; readonly columns: number; readonly nonZeros: number },
  allocate: Allocate<B>,
): CsrMatrix<B>;
export function createCsr(
  counts: { readonly rows: number; readonly columns: number; readonly nonZeros: number },
  allocate: Allocate = allocatePrivate,
): CsrMatrix {
  const { rows, columns, nonZeros } = counts;
  return createDataset({ rows, features: columns, labels: 0, nonZeros, labelEntries: 0 }, allocate)
    .features;
}

/**
 * The matrix in a buffer (`matrix.offsets.buffer`) that `createCsr` laid out, without a copy.
 *
 * @throws SparseError `BAD_BUFFER` if it holds none, or a broken one.
 */
export function csrFrom<B extends ArrayBufferLike>(
  buffer: B,
  options: DatasetFromOptions = {},
): CsrMatrix<B> {
  return datasetFrom(buffer, options).features;
}
