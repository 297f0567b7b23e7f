/** What went wrong. The package's README lists every code with its cause and cure. */
export type SparseErrorCode =
  | "BAD_BUFFER"
  | "BAD_INDEX"
  | "BAD_LABEL"
  | "BAD_NAMES"
  | "BAD_NUMBER"
  | "BAD_TOKEN"
  | "CORRUPT_GZIP"
  | "DUPLICATE_INDEX"
  | "DUPLICATE_LABEL"
  | "EMPTY_FILE"
  | "EMPTY_INPUT"
  | "EMPTY_ROW"
  | "FILE_NOT_FOUND"
  | "INDEX_OUT_OF_BOUNDS"
  | "INDEX_ZERO"
  | "IS_DIRECTORY"
  | "LABEL_OUT_OF_BOUNDS"
  | "MISSING_SPACE"
  | "NOT_FINITE"
  | "NOT_READABLE"
  | "NOT_WRITABLE"
  | "OUT_OF_MEMORY"
  | "ROW_COUNT"
  | "TOO_LARGE"
  | "TOO_WIDE"
  | "TRUNCATED_GZIP"
  | "UNKNOWN_LABEL"
  | "UNSUPPORTED_COMPRESSION"
  | "XC_HEADER";

/** A place in a text. */
export interface TextPosition {
  /** Name of the file, or what the caller called the text. */
  readonly source: string;
  /** Counts from 1. */
  readonly line: number;
  /** Byte of the line, counting from 1; a byte order mark does not count. */
  readonly column: number;
}

/**
 * Data or a file is not as it must be. The message is one line: where, what was found, what was
 * expected, what to do. Wrong arguments of a call are `TypeError`s and `RangeError`s instead.
 */
export class SparseError extends Error {
  override readonly name = "SparseError";
  readonly code: SparseErrorCode;
  /** Where in a text, if it was in one. The message begins with it. */
  readonly at: TextPosition | null;

  constructor(
    code: SparseErrorCode,
    message: string,
    options: { readonly at?: TextPosition; readonly cause?: unknown } = {},
  ) {
    const { at } = options;
    super(
      at ? `${at.source}:${at.line}:${at.column}: ${message}` : message,
      "cause" in options ? { cause: options.cause } : undefined,
    );
    this.code = code;
    this.at = at ?? null;
  }
}
