/**
 * Cuts the chunks of a text so that the scanner sees whole tokens only. What is held back between
 * chunks is one unfinished token, so lines may be of any length.
 */
import { SparseError } from "../errors.js";
import { isDelimiter, LF } from "./bytes.js";
import { scan } from "./scan.js";
import { failAt, LINE_START, type Scanner } from "./scanner.js";

/** No number is as long; without a limit, a file that is no text could fill the memory. */
const LONGEST_TOKEN = 65_536;

export interface Feed {
  readonly scanner: Scanner;
  /** An unfinished token: its first `held` bytes count. */
  carry: Uint8Array;
  held: number;
  /** Offset in the whole text of what comes next. */
  offset: number;
}

export function createFeed(scanner: Scanner, offset = 0): Feed {
  return { scanner, carry: new Uint8Array(256), held: 0, offset };
}

export function feed(state: Feed, chunk: Uint8Array): void {
  // A plain view: a Buffer would make the hot loop see two kinds of arrays.
  const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let start = 0;
  if (state.held > 0) {
    while (start < bytes.length && !isDelimiter(bytes[start])) start++;
    const complete = start < bytes.length;
    if (complete) start++;
    hold(state, bytes, 0, start);
    if (!complete) return;
    scanAt(state, state.carry, 0, state.held);
    state.held = 0;
  }
  let end = bytes.length;
  while (end > start && !isDelimiter(bytes[end - 1])) end--;
  scanAt(state, bytes, start, end);
  if (state.scanner.inComment) state.offset += bytes.length - end;
  else hold(state, bytes, end, bytes.length);
}

/** Ends the text's last line, where it has no line feed. */
export function endFeed(state: Feed): void {
  const { scanner } = state;
  if (state.held > 0 || scanner.phase !== LINE_START) {
    hold(state, Uint8Array.of(LF), 0, 1);
    scanAt(state, state.carry, 0, state.held);
    state.held = 0;
  }
}

function hold(state: Feed, bytes: Uint8Array, start: number, end: number): void {
  const held = state.held + end - start;
  if (held > LONGEST_TOKEN) {
    const { scanner } = state;
    const column = state.offset - state.held - scanner.lineStart + 1;
    failAt(
      scanner,
      column,
      "BAD_TOKEN",
      `expected a label or index:value, received more than ${LONGEST_TOKEN} bytes without white space. Is this the right file?`,
    );
  }
  if (held > state.carry.length) {
    const longer = new Uint8Array(2 * held);
    longer.set(state.carry.subarray(0, state.held));
    state.carry = longer;
  }
  state.carry.set(bytes.subarray(start, end), state.held);
  state.held = held;
  state.offset += end - start;
}

/** Scans bytes that end at `state.offset` if they are the carry, else begin there. */
function scanAt(state: Feed, bytes: Uint8Array, start: number, end: number): void {
  const { scanner } = state;
  if (bytes !== state.carry) state.offset += end - start;
  scanner.base = state.offset - end;
  const first = scanner.base + start === 0 && startsWithMark(bytes, end) ? 3 : start;
  if (first !== start) scanner.lineStart = 3;
  try {
    scan(scanner, bytes, first, end);
  } catch (error) {
    // Errors of growing arrays know no place.
    if (!(error instanceof SparseError) || error.at) throw error;
    failAt(scanner, 1, error.code, error.message, error.cause);
  }
}

/** Whether the bytes begin with UTF-8's byte order mark. */
function startsWithMark(bytes: Uint8Array, end: number): boolean {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
