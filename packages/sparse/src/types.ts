/**
 * A sparse matrix in compressed sparse row (CSR) form. The non-zeros of row `r` are the positions
 * `offsets[r]` (inclusive) to `offsets[r + 1]` (exclusive) of `indices` and `values`.
 *
 * Within a row the column indices are strictly ascending.
 */
export interface CsrMatrix<B extends ArrayBufferLike = ArrayBufferLike> {
  /** Number of rows. */
  readonly rows: number;
  /** Number of columns: every index is below it. */
  readonly columns: number;
  /** Row starts, `rows + 1` entries; the first is 0, the last the number of non-zeros. */
  readonly offsets: Uint32Array<B>;
  /** Column of each non-zero. */
  readonly indices: Uint32Array<B>;
  /** Value of each non-zero. */
  readonly values: Float32Array<B>;
}

/** The label set of each row: a CSR pattern, whose entries have no value. */
export interface LabelSets<B extends ArrayBufferLike = ArrayBufferLike> {
  /** Number of rows. */
  readonly rows: number;
  /** Number of labels (columns): every index is below it. */
  readonly columns: number;
  /** Row starts, `rows + 1` entries; the first is 0, the last the number of row–label pairs. */
  readonly offsets: Uint32Array<B>;
  /** Labels of the rows, strictly ascending within a row. */
  readonly indices: Uint32Array<B>;
}

/**
 * Rows with features and labels, in one buffer: a small header, then the five arrays. The same
 * bytes serve in memory, across threads (over a `SharedArrayBuffer`) and on disk.
 */
export interface Dataset<B extends ArrayBufferLike = ArrayBufferLike> {
  /** Number of rows of both `features` and `labels`. */
  readonly rows: number;
  readonly features: CsrMatrix<B>;
  readonly labels: LabelSets<B>;
  /** The one buffer that all arrays above are views of. */
  readonly buffer: B;
}
