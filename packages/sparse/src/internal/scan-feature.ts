import { COLON, COMMA, decode, find, HASH, tokenEnd } from "./bytes.js";
import { parseDecimal } from "./decimal.js";
import { growFeatures } from "./growing-rows.js";
import { MAX_COUNT } from "../layout.js";
import { columnOf, fail, keepPlace, type Scanner } from "./scanner.js";

/** Scans one `index:value` with every check, and stores it. Returns the position behind it. */
export function scanFeature(scanner: Scanner, bytes: Uint8Array, start: number): number {
  const { indexBase, declaredFeatures, features } = scanner.options;
  let colon = start;
  let number = 0;
  for (;;) {
    const digit = bytes[colon]! - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    number = 10 * number + digit;
    colon++;
  }
  const end = tokenEnd(bytes, colon);
  if (colon === start || bytes[colon] !== COLON || find(bytes, COLON, colon + 1, end) >= 0) {
    return oddFeature(scanner, bytes, start, end);
  }
  const index = number - indexBase;
  if (index < 0) {
    return fail(
      scanner,
      bytes,
      start,
      "INDEX_ZERO",
      "index 0 in text that counts features from 1",
      "If it counts from 0, read it with indexBase: 0; if it is XC text without a header, as XC with header: false.",
    );
  }
  if (index >= MAX_COUNT) {
    const what = `expected an index below ${(MAX_COUNT + indexBase).toLocaleString("en-US")}`;
    return fail(scanner, bytes, start, "TOO_LARGE", what);
  }
  if (declaredFeatures !== null && index >= declaredFeatures) {
    return fail(
      scanner,
      bytes,
      start,
      "INDEX_OUT_OF_BOUNDS",
      `index ${index}, but the header says ${declaredFeatures} features, numbered from 0`,
      "Correct the header or the index.",
    );
  }
  const value = scanValue(scanner, bytes, colon + 1, end);
  if (features === null || index < features) store(scanner, start, index, value);
  else refuseWider(scanner, bytes, start, index);
  return end;
}

/** What does not begin with an index and a colon, or has a colon too many. */
function oddFeature(scanner: Scanner, bytes: Uint8Array, start: number, end: number): number {
  const { comments, indexBase } = scanner.options;
  const colon = find(bytes, COLON, start, end);
  if (colon < 0) {
    const advice =
      bytes[start] === HASH
        ? "XC text has no comments: remove it."
        : "Labels come first, separated by commas without spaces.";
    return fail(scanner, bytes, start, "BAD_TOKEN", "expected index:value", advice);
  }
  if (find(bytes, COLON, colon + 1, end) >= 0) {
    const advice = "A second colon: is a space missing before its index?";
    return fail(scanner, bytes, start, "MISSING_SPACE", "expected one index:value", advice);
  }
  if (comments && decode(bytes, start, colon) === "qid") {
    scanner.queryIds++;
    return end;
  }
  const what = `expected a whole number as index, from ${indexBase} on`;
  return fail(scanner, bytes, start, "BAD_INDEX", what);
}

function refuseWider(scanner: Scanner, bytes: Uint8Array, start: number, index: number): void {
  const { dropWider, features, indexBase } = scanner.options;
  if (dropWider) {
    scanner.droppedFeatures++;
    return;
  }
  fail(
    scanner,
    bytes,
    start,
    "TOO_WIDE",
    `index ${index + indexBase}, but at most ${features} features are asked for, numbered from ${indexBase}`,
    'Use data of the same features, or leave such entries out with onWider: "drop".',
  );
}

function scanValue(scanner: Scanner, bytes: Uint8Array, start: number, end: number): number {
  const terminator = bytes[end];
  if (terminator === COMMA || (terminator === HASH && !scanner.options.comments)) {
    return fail(scanner, bytes, start, "BAD_NUMBER", "expected white space after the value");
  }
  const value = parseDecimal(bytes, start, end);
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value) && !/^[+-]?(nan|inf|infinity)$/i.test(decode(bytes, start, end))) {
    return fail(scanner, bytes, start, "BAD_NUMBER", "expected a decimal number as value");
  }
  return fail(
    scanner,
    bytes,
    start,
    "NOT_FINITE",
    "expected a finite value within float32",
    "Remove the entry, or give it a value.",
  );
}

function store(scanner: Scanner, start: number, index: number, value: number): void {
  const { rows, rowEnd } = scanner;
  if (rows.nonZeros === rows.indices.length) growFeatures(rows);
  if (index <= scanner.previous || !rowEnd.featuresSorted) noteLate(scanner, index, start);
  scanner.previous = index;
  rows.indices[rows.nonZeros] = index;
  rows.values[rows.nonZeros] = value;
  rows.nonZeros++;
}

/** Notes a feature that is out of order, or behind one that is. */
export function noteLate(scanner: Scanner, index: number, at: number): void {
  scanner.rowEnd.featuresSorted = false;
  keepPlace(scanner.lateFeatures, index, columnOf(scanner, at));
}
