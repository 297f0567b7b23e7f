/** The middle value, or the mean of the two in the middle. @throws RangeError for no values. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("the median of no values");
  return quantile(values, 0.5);
}

/**
 * The value that the share `q` of the values lies below, between two values by interpolation.
 *
 * @throws RangeError for no values, or if `q` is outside 0 to 1.
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError("a quantile of no values");
  if (!(q >= 0 && q <= 1)) throw new RangeError(`q must be from 0 to 1, not ${q}`);
  const sorted = values.toSorted((a, b) => a - b);
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (position - below) * (sorted[above]! - sorted[below]!);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What is told of the figures of many rounds. */
export interface Spread {
  readonly median: number;
  /** The tenth and the ninetieth percentile. */
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: quantile(values, 0.1), high: quantile(values, 0.9) };
}

/**
 * How many times `base` the values are: the median over the rounds that both took part in, so that
 * what slows a whole round down changes nothing. Null if there is no such round.
 */
export function pairedRatio(values: readonly number[], base: readonly number[]): number | null {
  const rounds = Math.min(values.length, base.length);
  if (rounds === 0) return null;
  return median(Array.from({ length: rounds }, (_, round) => values[round]! / base[round]!));
}
