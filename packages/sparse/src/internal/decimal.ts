/**
 * Exact conversion of decimal text to float32, over bytes. The result is that of
 * `Math.fround(Number(text))`, to the last bit.
 *
 * Up to 15 digits and a power of ten up to 10²² are exact in float64, so one multiplication or
 * division rounds once, as `Number` does. Of longer numbers the first 15 digits give a lower bound
 * and, plus one in the last place, an upper one; rounding is monotone, so where both bounds round
 * to the same float32 that is the result. The rest, about one number in millions, goes to `Number`.
 */
import { MINUS, PLUS, POINT } from "./bytes.js";

/** Any whole number of so many digits is exact in float64. */
export const EXACT_DIGITS = 15;
const EXACT_POWER = 22;

/** 10⁰ to 10²², all exact in float64. */
export const POWERS_OF_TEN = Float64Array.from({ length: EXACT_POWER + 1 }, (_, k) =>
  Number(`1e${k}`),
);

/** The digit that a byte is; out of 0 to 9 if it is none. */
function digit(byte: number | undefined): number {
  return (byte ?? 0) - 48;
}

function isDigit(value: number): boolean {
  return value >= 0 && value <= 9;
}

/**
 * The float32 nearest to the decimal number that bytes `start … end − 1` spell: a sign, digits with
 * at most one point and at least one digit, an exponent; all but the digits may be absent. NaN if
 * they spell anything else, infinite if beyond float32.
 */
export function parseDecimal(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const negative = bytes[at] === MINUS;
  if (negative || bytes[at] === PLUS) at++;

  let mantissa = 0;
  let kept = 0; // significant digits in the mantissa
  let dropped = 0; // digits of the whole part that are not
  let inexact = false; // a dropped digit is not zero
  let scale = 0; // digits of the mantissa behind the point
  let digits = 0;
  let behindPoint = false;
  for (; at < end; at++) {
    const value = digit(bytes[at]);
    if (isDigit(value)) {
      digits++;
      if (kept < EXACT_DIGITS) {
        mantissa = 10 * mantissa + value;
        if (mantissa > 0) kept++;
        if (behindPoint) scale++;
      } else {
        if (!behindPoint) dropped++;
        inexact ||= value !== 0;
      }
    } else if (bytes[at] === POINT && !behindPoint) {
      behindPoint = true;
    } else {
      break;
    }
  }
  if (digits === 0) return Number.NaN;

  let exponent = 0;
  if (at < end) {
    if (bytes[at] !== 0x65 && bytes[at] !== 0x45) return Number.NaN;
    at++;
    const down = bytes[at] === MINUS;
    if (down || bytes[at] === PLUS) at++;
    if (at >= end) return Number.NaN;
    for (; at < end; at++) {
      const value = digit(bytes[at]);
      if (!isDigit(value)) return Number.NaN;
      exponent = Math.min(10 * exponent + value, 1e9);
    }
    if (down) exponent = -exponent;
  }

  const power = exponent + dropped - scale;
  if (Math.abs(power) <= EXACT_POWER) {
    const low = Math.fround(timesPowerOfTen(mantissa, power));
    if (!inexact || low === Math.fround(timesPowerOfTen(mantissa + 1, power))) {
      return negative ? -low : low;
    }
  }
  return Math.fround(Number(asciiText(bytes, start, end)));
}

function timesPowerOfTen(mantissa: number, power: number): number {
  return power < 0 ? mantissa / POWERS_OF_TEN[-power]! : mantissa * POWERS_OF_TEN[power]!;
}

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}
