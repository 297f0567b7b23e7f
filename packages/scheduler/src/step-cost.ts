/**
 * What a device's step costs, as its own times show: a fixed part, and a part for each row. Where the
 * fixed part is most of it, a smaller batch hardly makes a step shorter.
 */

/**
 * Sums over a device's steps, b being a step's rows and t its seconds. Those of earlier mega-batches
 * fade, so that a device that changes is known anew.
 */
export interface StepTimes {
  readonly steps: number;
  /** Σb, Σt, Σb² and Σbt. */
  readonly rows: number;
  readonly seconds: number;
  readonly squares: number;
  readonly products: number;
  /** What {@link fixedRows} was before the latest mega-batch. */
  readonly before: number;
}

/** Of a device that has made no step: as if rows were all that costs time. */
export const noTimes: StepTimes = {
  steps: 0,
  rows: 0,
  seconds: 0,
  squares: 0,
  products: 0,
  before: 0,
};

/** What is left of a step's weight one mega-batch later: after ten of them, a tenth. */
const FADE = 0.8;
/** What is known from before counts as much as steps whose sizes have this deviation from their mean. */
const SPREAD = 0.05;
/** As much as infinitely many, and yet a number in JSON. */
const MOST_FIXED_ROWS = 1e9;

/** With one more step, unless it tells nothing: no rows, or a time that no clock can have measured. */
export function withStep(times: StepTimes, rows: number, seconds: number): StepTimes {
  if (!(rows > 0 && seconds > 0 && seconds < Infinity)) return times;
  return {
    ...times,
    steps: times.steps + 1,
    rows: times.rows + rows,
    seconds: times.seconds + seconds,
    squares: times.squares + rows * rows,
    products: times.products + rows * seconds,
  };
}

/** As they count in the next mega-batch. */
export function faded(times: StepTimes): StepTimes {
  return {
    steps: FADE * times.steps,
    rows: FADE * times.rows,
    seconds: FADE * times.seconds,
    squares: FADE * times.squares,
    products: FADE * times.products,
    before: fixedRows(times),
  };
}

/**
 * f, the fixed part of a step, as the rows that take as long: t = c·(f + b). 0 as long as nothing
 * tells it from the part for each row.
 *
 * The slope c is that of least squares, drawn to what f was before: where sizes are all alike,
 * their slope is but noise.
 */
export function fixedRows({ steps, rows, seconds, squares, products, before }: StepTimes): number {
  if (steps === 0) return before;
  const meanRows = rows / steps;
  const meanSeconds = seconds / steps;
  const doubt = (SPREAD * meanRows) ** 2;
  const variance = Math.max(0, squares / steps - meanRows ** 2);
  const covariance = products / steps - meanRows * meanSeconds;
  const expected = meanSeconds / (before + meanRows);
  const slope = (covariance + doubt * expected) / (variance + doubt);
  if (slope <= 0) return MOST_FIXED_ROWS;
  return Math.min(MOST_FIXED_ROWS, Math.max(0, meanSeconds / slope - meanRows));
}

/**
 * The smallest batch with which a device trains at least the share `throughput`, below 1, of the rows
 * a second that it trains with `most` rows. Solves b/(f + b) = throughput · most/(f + most), f being
 * `fixed`.
 */
export function leastRows(fixed: number, throughput: number, most: number): number {
  return (throughput * most * fixed) / (fixed + (1 - throughput) * most);
}
