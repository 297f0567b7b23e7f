/**
 * The text formats' common part: lines of `label,label index:value index:value …`, as bytes.
 *
 * `scan` holds the hot loop, which takes features that are right at a glance: within bounds, of a
 * finite value, with room to store them. Everything else (labels, line ends, errors) is left to
 * functions that look at each case, from the token's start again.
 */
import { COLON, CR, HASH, LF, MINUS, POINT, SPACE, TAB, tokenEnd } from "./bytes.js";
import { EXACT_DIGITS, parseDecimal, POWERS_OF_TEN } from "./decimal.js";
import { endRow } from "./growing-rows.js";
import { noteLate, scanFeature } from "./scan-feature.js";
import { scanLabel } from "./scan-label.js";
import { fail, failAt, FEATURES, LABEL, LINE_START, type Scanner } from "./scanner.js";

/** What the hot loop sees of larger numbers: it computes with 32 bits. */
const LARGEST = 2 ** 31 - 1;

/**
 * Scans bytes `start … end − 1`, the last of which must be white space, a line feed, a comma or a
 * hash: so no token is cut. The state between calls is in the scanner.
 */
export function scan(scanner: Scanner, bytes: Uint8Array, start: number, end: number): void {
  const { rows, options } = scanner;
  const { indexBase } = options;
  const bound = Math.min(options.features ?? LARGEST, options.declaredFeatures ?? LARGEST, LARGEST);
  let { indices, values, nonZeros } = rows;
  let room = indices.length;
  let previous = Math.min(scanner.previous, LARGEST);
  let sorted = scanner.rowEnd.featuresSorted;
  let at = scanner.inComment ? skipComment(scanner, bytes, start, end) : start;

  while (at < end) {
    const byte = bytes[at]!;
    if ((byte === SPACE || byte === TAB) && scanner.phase !== LABEL) {
      at++;
      continue;
    }
    if (byte >= 48 && byte <= 57 && scanner.phase === FEATURES) {
      // 32-bit arithmetic does for nine digits; how many there were is checked afterwards.
      let next = at;
      let index = 0;
      let digit = byte - 48;
      do {
        index = (Math.imul(index, 10) + digit) | 0;
        digit = bytes[++next]! - 48;
      } while (digit >= 0 && digit <= 9);
      const indexDigits = next - at;
      index -= indexBase;
      if (
        digit === COLON - 48 &&
        indexDigits <= 9 &&
        index >= 0 &&
        index < bound &&
        nonZeros < room
      ) {
        const valueStart = ++next;
        digit = bytes[next]! - 48;
        const negative = digit === MINUS - 48;
        if (negative) digit = bytes[++next]! - 48;
        const first = next;
        let mantissa = 0;
        while (digit >= 0 && digit <= 9) {
          mantissa = 10 * mantissa + digit;
          digit = bytes[++next]! - 48;
        }
        let digits = next - first;
        let scale = 0;
        if (digit === POINT - 48) {
          const point = next;
          digit = bytes[++next]! - 48;
          while (digit >= 0 && digit <= 9) {
            mantissa = 10 * mantissa + digit;
            digit = bytes[++next]! - 48;
          }
          scale = next - point - 1;
          digits += scale;
        }
        let value = Number.NaN;
        if (digits <= EXACT_DIGITS && isWhiteSpace(digit + 48)) {
          if (digits > 0) value = (negative ? -mantissa : mantissa) / POWERS_OF_TEN[scale]!;
        } else {
          next = tokenEnd(bytes, next);
          if (isWhiteSpace(bytes[next]!)) value = parseDecimal(bytes, valueStart, next);
        }
        if (Number.isFinite(value)) {
          indices[nonZeros] = index;
          values[nonZeros] = value;
          nonZeros++;
          if (index <= previous || !sorted) {
            noteLate(scanner, index, at);
            sorted = false;
          }
          previous = index;
          at = next;
          continue;
        }
      }
    }

    rows.nonZeros = nonZeros;
    if (previous !== LARGEST) scanner.previous = previous;
    if (byte === LF) {
      endLine(scanner, bytes, at);
      at++;
    } else if (byte === CR) {
      if (bytes[at + 1] !== LF) {
        fail(scanner, bytes, at, "BAD_TOKEN", "expected a line feed after a carriage return");
      }
      at++;
    } else if (byte === HASH && options.comments) {
      at = skipComment(scanner, bytes, at, end);
    } else if (scanner.phase === FEATURES) {
      at = scanFeature(scanner, bytes, at);
    } else {
      at = scanLabel(scanner, bytes, at);
    }
    ({ indices, values, nonZeros } = rows);
    room = indices.length;
    previous = Math.min(scanner.previous, LARGEST);
    sorted = scanner.rowEnd.featuresSorted;
  }
  rows.nonZeros = nonZeros;
  if (previous !== LARGEST) scanner.previous = previous;
}

function isWhiteSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

function skipComment(scanner: Scanner, bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== LF) at++;
  scanner.inComment = at === end;
  return at;
}

function endLine(scanner: Scanner, bytes: Uint8Array, at: number): void {
  const { options, rows, rowEnd } = scanner;
  if (scanner.phase === LINE_START) {
    scanner.blankLines++;
  } else {
    if (scanner.phase === LABEL) {
      fail(scanner, bytes, at, "BAD_LABEL", "expected a label after the comma");
    }
    if (rows.rows === options.declaredRows) {
      failAt(
        scanner,
        1,
        "ROW_COUNT",
        `the header says ${options.declaredRows} rows, but this is row ${rows.rows + 1}. Correct the header, or remove the row.`,
      );
    }
    endRow(rows, rowEnd);
    rowEnd.featuresSorted = true;
    rowEnd.labelsSorted = true;
    scanner.lateFeatures.length = 0;
    scanner.lateLabels.length = 0;
    scanner.previous = -1;
    scanner.previousLabel = -1;
    scanner.phase = LINE_START;
  }
  scanner.line++;
  scanner.lineStart = scanner.base + at + 1;
}
