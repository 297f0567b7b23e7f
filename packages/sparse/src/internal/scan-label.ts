import { MAX_COUNT } from "../layout.js";
import {
  COLON,
  COMMA,
  CR,
  decode,
  find,
  HASH,
  LF,
  MINUS,
  PLUS,
  SPACE,
  TAB,
  tokenEnd,
} from "./bytes.js";
import { growLabels } from "./growing-rows.js";
import { columnOf, fail, FEATURES, keepPlace, LABEL, LINE_START, type Scanner } from "./scanner.js";

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Scans one label with the comma behind it, or finds that the row has no (more) labels. Returns the
 * position from which to go on; the scanner's phase says with what.
 */
export function scanLabel(scanner: Scanner, bytes: Uint8Array, start: number): number {
  let value = 0;
  const sign = bytes[start] === MINUS ? -1 : 1;
  const first = bytes[start] === MINUS || bytes[start] === PLUS ? start + 1 : start;
  let end = first;
  for (;;) {
    const digit = bytes[end]! - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    value = 10 * value + digit;
    end++;
  }
  value = sign * value + 0; // -0 is 0
  if (end === first || end - first > 9 || !endsLabel(bytes[end])) {
    end = tokenEnd(bytes, start);
    if (scanner.phase === LINE_START && find(bytes, COLON, start, end) >= 0) {
      scanner.phase = FEATURES;
      return start;
    }
    value = oddLabel(scanner, bytes, start, end);
  }

  const id = scanner.options.labelId(value);
  if (typeof id === "object") return fail(scanner, bytes, start, id.code, id.what, id.advice);
  if (id < 0) scanner.droppedLabels++;
  else store(scanner, id, columnOf(scanner, start));

  if (bytes[end] === COMMA) {
    scanner.phase = LABEL;
    return end + 1;
  }
  scanner.phase = FEATURES;
  return end;
}

function endsLabel(byte: number | undefined): boolean {
  return byte === COMMA || byte === SPACE || byte === LF || byte === TAB || byte === CR;
}

/** The value of a label that is not a few digits, such as `1.0`. */
function oddLabel(scanner: Scanner, bytes: Uint8Array, start: number, end: number): number {
  const text = decode(bytes, start, end);
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value) || (bytes[end] === HASH && !scanner.options.comments)) {
    return fail(scanner, bytes, start, "BAD_LABEL", "expected a whole number as label");
  }
  if (Math.abs(value) >= MAX_COUNT) {
    return fail(
      scanner,
      bytes,
      start,
      "TOO_LARGE",
      `expected a label below ${MAX_COUNT.toLocaleString("en-US")}`,
    );
  }
  return value + 0;
}

function store(scanner: Scanner, id: number, column: number): void {
  const { rows, rowEnd, lateLabels } = scanner;
  if (rows.labelEntries === rows.labels.length) growLabels(rows);
  if (id <= scanner.previousLabel) rowEnd.labelsSorted = false;
  if (!rowEnd.labelsSorted) keepPlace(lateLabels, id, column);
  scanner.previousLabel = id;
  rows.labels[rows.labelEntries] = id;
  rows.labelEntries++;
}
