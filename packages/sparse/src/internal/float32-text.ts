const SMALLEST_NORMAL = 2 ** -126;

/**
 * The decimal text with the fewest significant digits that reads back as the same float32.
 *
 * Six digits determine every decimal of up to six digits that rounds to a normal float32, so the
 * shorter ones come out of `toPrecision(6)` too, once the zeros are gone. Subnormal numbers have
 * less precision. Nine digits always do.
 */
export function float32Text(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6)
    return Object.is(value, -0) ? "-0" : String(value);
  let precision = Math.abs(value) < SMALLEST_NORMAL ? 1 : 6;
  for (; precision < 9; precision++) {
    const rounded = Number(value.toPrecision(precision));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}
