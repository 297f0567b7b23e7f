/**
 * Blocks of classes, the unit in which the output layer and top-k work, so that the scores of all
 * classes needn't be in memory at once. A tile is class-major: the scores of a block's first class
 * for all rows, then the second class's.
 */
import type { Layer } from "../contract.js";
import type { FloatArray } from "./arrays.js";
import { multiplyByRows } from "./matrix.js";

/** Classes of a block. Their weights at 128 units, 32 KiB, stay in a core's first cache. */
export const blockClasses = 64;

/**
 * Elements from one class of a tile to the next: an odd number of cache lines. With an even power
 * of two all classes of one row would fall into the same few sets of the cache.
 */
export function tileStride(rows: number): number {
  const lines = Math.ceil(rows / 16);
  return 16 * (lines % 2 === 0 ? lines + 1 : lines);
}

/**
 * Writes the logits of classes `first … first + count − 1` for all rows into `tile` from `start`
 * on.
 */
export function scoreBlock<A extends FloatArray>(
  rows: number,
  hidden: A,
  layer: Layer<A>,
  first: number,
  count: number,
  tile: A,
  start: number,
): void {
  const { weights, bias, inputs } = layer;
  const stride = tileStride(rows);
  multiplyByRows(hidden, rows, weights, bias, first, count, inputs, tile, start, 1, stride);
}

/** Running maxima and sums of exponentials of logits that arrive block by block. */
export interface LogSumExp {
  /** Largest logit of each row so far. */
  readonly maxima: Float64Array;
  /** Sum of exp(logit − maximum) of each row so far. */
  readonly sums: Float64Array;
}

/** Starts `rows` running sums. */
export function resetLogSumExp({ maxima, sums }: LogSumExp, rows: number): void {
  maxima.fill(-Infinity, 0, rows);
  sums.fill(0, 0, rows);
}

/** Takes one row's logits of a block into its running sum. */
export function addToLogSumExp(
  { maxima, sums }: LogSumExp,
  row: number,
  tile: FloatArray,
  start: number,
  stride: number,
  count: number,
): void {
  const before = maxima[row]!;
  let maximum = before;
  for (let c = 0, i = start + row; c < count; c++, i += stride) {
    if (tile[i]! > maximum) maximum = tile[i]!;
  }
  let sum = sums[row]!;
  if (maximum > before) sum *= Math.exp(before - maximum);
  for (let c = 0, i = start + row; c < count; c++, i += stride) {
    sum += Math.exp(tile[i]! - maximum);
  }
  maxima[row] = maximum;
  sums[row] = sum;
}
