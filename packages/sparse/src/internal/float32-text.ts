const SMALLEST_NORMAL = 2 ** -126;

/**
 * The decimal text with the fewest significant digits that reads back as the same float32.
 *
 * Six digits determine every decimal of up to six digits that rounds to a normal float32, so the
 * shorter ones come out of `toPrecision(6)` too, once the zeros are gone. Subnormal numbers have
 * less precision. Nine digits always do.
 */
export function float32Text(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) {
    return Object.is(value, -0) ? "-0" : String(value);
  }
  let precision = Math.abs(value) < SMALLEST_NORMAL ? 1 : 6;
  for (; precision < 9; precision++) {
    const nearest = Number(value.toPrecision(precision));
    if (Math.fround(nearest) === value) return String(nearest);
    if (isPowerOfTwo(value)) {
      const farther = nextDecimal(value, precision);
      if (Math.fround(farther) === value) return String(farther);
    }
  }
  return String(Number(value.toPrecision(9)));
}

/**
 * Above a power of two float32 numbers lie twice as far apart as below it, so a decimal above may
 * round to it where the nearest one, below, does not.
 */
function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(Math.abs(value)));
}

/** The decimal of `precision` digits that follows the nearest one, away from zero. */
function nextDecimal(value: number, precision: number): number {
  const [mantissa = "", exponent] = value.toExponential(precision - 1).split("e");
  const units = Number(mantissa.replace(".", "")) + Math.sign(value);
  return Number(`${units}e${Number(exponent) - precision + 1}`);
}
