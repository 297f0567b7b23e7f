import { SparseError } from "../errors.js";
import { decode, find, LF } from "./bytes.js";

/** Far longer than a header; a first line that is longer is none. */
const LONGEST_HEAD = 65_536;

/** The first line of a text that is not blank. */
export interface FirstLine {
  readonly text: string;
  /** Counts from 1. */
  readonly line: number;
  /** Offset of the next line. */
  readonly end: number;
}

export interface HeadCollector {
  /**
   * Everything pushed so far: the caller's own array if one chunk was enough, to be used at once.
   */
  bytes: Uint8Array;
}

/**
 * Collects a text's beginning. Returns the first line that is not blank once it is complete.
 *
 * @throws SparseError `EMPTY_INPUT` where there is none for so long that there won't be any: a text
 *   of nothing, packed to a thousandth of its size, would fill the memory.
 */
export function collect(head: HeadCollector, chunk: Uint8Array, source: string): FirstLine | null {
  if (head.bytes.length === 0) {
    refuseBlank(chunk, source);
    const line = firstLine(chunk, false);
    if (line) {
      head.bytes = chunk;
      return line;
    }
  }
  const joined = new Uint8Array(head.bytes.length + chunk.length);
  joined.set(head.bytes);
  joined.set(chunk, head.bytes.length);
  head.bytes = joined;
  refuseBlank(joined, source);
  return firstLine(joined, joined.length > LONGEST_HEAD);
}

function refuseBlank(bytes: Uint8Array, source: string): void {
  if (bytes.length <= LONGEST_HEAD) return;
  // A character that is cut at the end is left out.
  const start = new TextDecoder().decode(bytes.slice(0, LONGEST_HEAD), { stream: true });
  if (start.trim() !== "") return;
  const message = `${source}: no data in the first ${LONGEST_HEAD} bytes, only white space. Is this the right file?`;
  throw new SparseError("EMPTY_INPUT", message);
}

/** The first line of a complete or cut text; null if there is none (yet). */
export function firstLine(bytes: Uint8Array, complete: boolean): FirstLine | null {
  let start = 0;
  for (let line = 1; ; line++) {
    const lineFeed = find(bytes, LF, start, bytes.length);
    if (lineFeed < 0 && !complete) return null;
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const text = decode(bytes, start, Math.min(end, start + LONGEST_HEAD));
    const next = Math.min(end + 1, bytes.length);
    if (text.trim() !== "") return { text, line, end: next };
    if (lineFeed < 0) return null;
    start = next;
  }
}

/** `rows features labels` of an XC header, null if the line is none. */
export function parseXcHeader(text: string): readonly [number, number, number] | null {
  const match = /^[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*\r?$/.exec(text);
  return match && [Number(match[1]), Number(match[2]), Number(match[3])];
}
