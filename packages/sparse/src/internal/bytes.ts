export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const HASH = 0x23;
export const COMMA = 0x2c;
export const PLUS = 0x2b;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const COLON = 0x3a;

/** Whether a token cannot go on beyond this byte. A text may be cut after it. */
export function isDelimiter(byte: number | undefined): boolean {
  return byte === SPACE || byte === LF || byte === COMMA || byte === TAB || byte === HASH;
}

/** The first byte from `start` on that ends a token: a delimiter or a carriage return. */
export function tokenEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && !isDelimiter(bytes[at]) && bytes[at] !== CR) at++;
  return at;
}

/** Position of `byte` from `start` on, −1 if it is not found before `end`. */
export function find(bytes: Uint8Array, byte: number, start: number, end: number): number {
  for (let at = start; at < end; at++) if (bytes[at] === byte) return at;
  return -1;
}

/** The bytes as text. Bytes that are no UTF-8 become replacement characters. */
export function decode(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.slice(start, end)); // a copy: shared memory is refused
}

const SHOWN_CHARACTERS = 40;

/** Text for a message: quoted, control characters escaped, cut. */
export function shown(text: string): string {
  const cut = text.length > SHOWN_CHARACTERS;
  return JSON.stringify(text.slice(0, SHOWN_CHARACTERS)) + (cut ? "…" : "");
}

/** The token at byte `at` for a message, with the comma or hash that ends it. */
export function shownToken(bytes: Uint8Array, at: number): string {
  const last = tokenEnd(bytes, at);
  const terminator = bytes[last];
  const end = terminator === COMMA || terminator === HASH ? last + 1 : last;
  if (end === at) {
    return terminator === SPACE || terminator === TAB ? "white space" : "the end of the line";
  }
  return shown(decode(bytes, at, Math.min(end, at + 4 * SHOWN_CHARACTERS)));
}
