import { allocatePrivate, allocateShared, MAX_COUNT } from "./layout.js";
import type { ScannerOptions } from "./internal/scanner.js";
import type { Dataset } from "./types.js";

/** What readers of all formats understand. */
export interface ReadOptions {
  /** Name of the text in messages, such as the file's. Default `"text"`. */
  readonly source?: string | undefined;
  /** Puts the data set into a `SharedArrayBuffer`. Default false. */
  readonly shared?: boolean | undefined;
  /** Whether equal indices in a row are refused or their values added up. Default `"error"`. */
  readonly duplicates?: "error" | "sum" | undefined;
  /** Number of features, such as a model's. Default: the header's, else 1 + the largest index. */
  readonly features?: number | undefined;
  /** Number of labels, such as a model's. Default: the header's, else as many as occur. */
  readonly labels?: number | undefined;
  /** What becomes of entries at or above `features` or `labels`. Default `"error"`. */
  readonly onWider?: "error" | "drop" | undefined;
}

/** What XC readers understand. */
export interface XcOptions extends ReadOptions {
  /** Whether the text begins with `rows features labels`. Default true. */
  readonly header?: boolean | undefined;
}

/** What LIBSVM readers understand. */
export interface LibsvmOptions extends ReadOptions {
  /** The number of the first feature. It is never guessed. Default 1. */
  readonly indexBase?: 0 | 1 | undefined;
  /**
   * What a label in the text is. `"names"`: a name that happens to be a whole number, such as -1;
   * the distinct ones in ascending order are labels 0, 1, 2 …. `"ids"`: the label's number, from 0
   * on. Default `"names"`.
   */
  readonly labelValues?: "names" | "ids" | undefined;
  /** The names that training data had, in order. Others are errors, or dropped with `onWider`. */
  readonly labelNames?: readonly string[] | undefined;
}

/** What a reader counted. */
export interface ReadStats {
  readonly rowsWithoutFeatures: number;
  readonly rowsWithoutLabels: number;
  /** Lines that hold nothing, or nothing but a comment. */
  readonly blankLines: number;
  /** Feature entries left out by `onWider: "drop"`. */
  readonly droppedFeatures: number;
  /** Row–label pairs left out by `onWider: "drop"`. */
  readonly droppedLabels: number;
}

export type TextFormat = "xc" | "libsvm";

/** A text as read. */
export interface ReadResult<B extends ArrayBufferLike = ArrayBufferLike> {
  readonly format: TextFormat;
  readonly dataset: Dataset<B>;
  /** Label `i` as it stands in the text, where the text's labels are names (LIBSVM); else null. */
  readonly labelNames: readonly string[] | null;
  readonly stats: ReadStats;
  /** Sentences for the user about what was passed over. */
  readonly notices: readonly string[];
}

/** Takes a text in pieces of any size, cut anywhere. */
export interface TextReader {
  /** Takes the next bytes. They are not kept. @throws SparseError at the first thing wrong. */
  push(bytes: Uint8Array): void;
  /** Ends the text. @throws SparseError if something is missing. */
  finish(): ReadResult;
}

/** Checks the options, and gives what the scanner needs of them. */
export function commonOptions(
  options: ReadOptions,
): Pick<
  ScannerOptions,
  "source" | "sumDuplicates" | "features" | "dropWider" | "declaredFeatures" | "declaredRows"
> {
  const { source = "text", duplicates = "error", features, labels, onWider = "error" } = options;
  checkChoice("duplicates", duplicates, ["error", "sum"]);
  checkChoice("onWider", onWider, ["error", "drop"]);
  checkBound("features", features);
  checkBound("labels", labels);
  return {
    source,
    sumDuplicates: duplicates === "sum",
    features: features ?? null,
    dropWider: onWider === "drop",
    declaredFeatures: null,
    declaredRows: null,
  };
}

export function checkChoice<T>(name: string, value: T, choices: readonly T[]): void {
  if (!choices.includes(value)) {
    const list = choices.map((choice) => JSON.stringify(choice)).join(" or ");
    throw new TypeError(`${name} must be ${list}, received ${JSON.stringify(value)}`);
  }
}

function checkBound(name: string, bound: number | undefined): void {
  if (bound === undefined) return;
  if (!Number.isInteger(bound) || bound < 0 || bound > MAX_COUNT) {
    throw new RangeError(`${name} must be a whole number from 0 to 2^32 - 1, received ${bound}`);
  }
}

export function allocateFor(options: ReadOptions): (bytes: number) => ArrayBufferLike {
  return options.shared ? allocateShared : allocatePrivate;
}
