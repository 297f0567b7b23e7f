/** State of a text being scanned, and the errors that name a place in it. */
import { type SparseErrorCode, SparseError } from "../errors.js";
import { shownToken } from "./bytes.js";
import { createGrowingRows, type GrowingRows, type RowEnd } from "./growing-rows.js";

/** Nothing of the line but white space has been seen. */
export const LINE_START = 0;
/** A comma has been seen, so a label must follow. */
export const LABEL = 1;
/** The labels are over. */
export const FEATURES = 2;

/** What differs between formats, and what the caller asked for. */
export interface ScannerOptions {
  readonly source: string;
  /** LIBSVM's `#` comments and `qid:` entries. */
  readonly comments: boolean;
  readonly indexBase: 0 | 1;
  readonly sumDuplicates: boolean;
  /** Bound that the text itself gives: an index beyond it is always an error. */
  readonly declaredFeatures: number | null;
  /** Bound that the caller gives. */
  readonly features: number | null;
  readonly dropWider: boolean;
  /** Rows that the text itself promises. */
  readonly declaredRows: number | null;
  /** Id of a label as written: −1 to drop it, a complaint if it is wrong. */
  readonly labelId: (value: number) => number | Complaint;
  /** A label as written, for messages. */
  readonly labelText: (id: number) => string;
}

/** Of how many entries out of order the places are kept, for messages: a row may be of any length. */
const MOST_LATE = 65_536;

/** Notes where an entry stands that is out of order, or behind one that is. */
export function keepPlace(late: number[], index: number, column: number): void {
  if (late.length < 2 * MOST_LATE) late.push(index, column);
}

export interface Complaint {
  readonly code: SparseErrorCode;
  readonly what: string;
  readonly advice: string;
}

export interface Scanner {
  readonly options: ScannerOptions;
  readonly rows: GrowingRows;
  /** Offset in the whole text of the first byte of the array being scanned. */
  base: number;
  /** Counts from 1. */
  line: number;
  /** Offset of the line's first byte in the whole text. */
  lineStart: number;
  phase: typeof LINE_START | typeof LABEL | typeof FEATURES;
  inComment: boolean;
  /** Index of the row's last feature, −1 before the first. */
  previous: number;
  previousLabel: number;
  readonly rowEnd: { -readonly [K in keyof RowEnd]: RowEnd[K] };
  /** Index and column, in turn, of the row's features from the first out of order on; not all of very many. */
  readonly lateFeatures: number[];
  readonly lateLabels: number[];
  blankLines: number;
  droppedFeatures: number;
  droppedLabels: number;
  queryIds: number;
}

export function createScanner(options: ScannerOptions): Scanner {
  const scanner: Scanner = {
    options,
    rows: createGrowingRows(),
    base: 0,
    line: 1,
    lineStart: 0,
    phase: LINE_START,
    inComment: false,
    previous: -1,
    previousLabel: -1,
    rowEnd: {
      featuresSorted: true,
      labelsSorted: true,
      sumDuplicates: options.sumDuplicates,
      onDuplicate: (kind, index) => failDuplicate(scanner, kind, index),
      onOverflow: (index) =>
        failAt(
          scanner,
          1,
          "NOT_FINITE",
          `the values of index ${index + options.indexBase} add up to more than float32 holds`,
        ),
    },
    lateFeatures: [],
    lateLabels: [],
    blankLines: 0,
    droppedFeatures: 0,
    droppedLabels: 0,
    queryIds: 0,
  };
  return scanner;
}

/** Column of byte `at` of the array being scanned. */
export function columnOf(scanner: Scanner, at: number): number {
  return scanner.base + at - scanner.lineStart + 1;
}

/** Throws, naming the line and the column. */
export function failAt(
  scanner: Scanner,
  column: number,
  code: SparseErrorCode,
  message: string,
  cause?: unknown,
): never {
  const at = { source: scanner.options.source, line: scanner.line, column };
  throw new SparseError(code, message, cause === undefined ? { at } : { at, cause });
}

/** Throws, with the text received at byte `at`. */
export function fail(
  scanner: Scanner,
  bytes: Uint8Array,
  at: number,
  code: SparseErrorCode,
  what: string,
  advice = "",
): never {
  const message = `${what}, received ${shownToken(bytes, at)}.${advice && ` ${advice}`}`;
  return failAt(scanner, columnOf(scanner, at), code, message);
}

function failDuplicate(scanner: Scanner, kind: "index" | "label", index: number): never {
  const late = kind === "index" ? scanner.lateFeatures : scanner.lateLabels;
  let column = 1;
  for (let i = 0; i < late.length; i += 2) if (late[i] === index) column = late[i + 1]!;
  const { indexBase, labelText } = scanner.options;
  return failAt(
    scanner,
    column,
    kind === "index" ? "DUPLICATE_INDEX" : "DUPLICATE_LABEL",
    kind === "index"
      ? `index ${index + indexBase} occurs twice in this row. Remove one, or add them up with duplicates: "sum".`
      : `label ${labelText(index)} occurs twice in this row. Remove one, or merge them with duplicates: "sum".`,
  );
}
