/** The best classes of each row, ranked block by block while their scores are in cache. */
import { addLogSumExp, clearRows } from "./losses";
import { blockClasses } from "./output";
import { pack, packedLanes, scores } from "./products";
import { log } from "./simd";

/**
 * `best` and `ids` receive `k` logits and classes for each row, `logSumExp` a float. `rowState` has
 * room for 5 floats for every lane; `panels` and `tile` as for `output`.
 */
export function topK(
  rows: usize,
  hidden: usize,
  units: usize,
  classes: usize,
  weights: usize,
  bias: usize,
  k: usize,
  ids: usize,
  best: usize,
  logSumExp: usize,
  panels: usize,
  tile: usize,
  tileStride: usize,
  rowState: usize,
): void {
  const stride = tileStride << 2;
  const lanes = packedLanes(rows);
  const maxima = rowState;
  const sums = maxima + (lanes << 2);
  const thresholds = sums + (lanes << 2);
  pack(hidden, rows, units, panels);
  // Clears the thresholds and what lies behind them as well.
  clearRows(lanes, maxima, sums, thresholds);
  for (let first: usize = 0; first < classes; first += blockClasses) {
    const count = min(blockClasses, classes - first);
    const w = weights + ((first * units) << 2);
    scores(panels, rows, units, w, count, bias + (first << 2), tile, stride);
    rank(rows, lanes, k, first, count, tile, stride, ids, best, thresholds);
    addLogSumExp(tile, stride, count, lanes, maxima, sums, 0);
  }
  for (let row: usize = 0; row < rows; row++) {
    const at = row << 2;
    const value = <f64>load<f32>(maxima + at) + log(<f64>load<f32>(sums + at));
    store<f32>(logSumExp + at, <f32>value);
  }
}

/**
 * Puts a block's classes among the best. A row's threshold is its k-th best logit; lanes without a
 * row have +∞, which nothing exceeds.
 */
function rank(
  rows: usize,
  lanes: usize,
  k: usize,
  first: usize,
  count: usize,
  tile: usize,
  stride: usize,
  ids: usize,
  best: usize,
  thresholds: usize,
): void {
  for (let id = first; id < first + count; id++) {
    if (id < k) {
      for (let row: usize = 0; row < rows; row++) insert(row, k, id, id, tile, ids, best);
      if (id + 1 == k) {
        for (let lane: usize = 0; lane < lanes; lane++) {
          const kth = best + ((lane * k + k - 1) << 2);
          store<f32>(thresholds + (lane << 2), lane < rows ? load<f32>(kth) : Infinity);
        }
      }
    } else {
      for (let lane: usize = 0; lane < lanes; lane += 4) {
        const at = lane << 2;
        const exceeds = f32x4.gt(v128.load(tile + at), v128.load(thresholds + at));
        if (!v128.any_true(exceeds)) continue;
        const which = i32x4.bitmask(exceeds);
        for (let i: usize = 0; i < 4; i++) {
          if ((which & (1 << <i32>i)) == 0) continue;
          const row = lane + i;
          insert(row, k, id, k - 1, tile, ids, best);
          store<f32>(thresholds + (row << 2), load<f32>(best + ((row * k + k - 1) << 2)));
        }
      }
    }
    tile += stride;
  }
}

/**
 * Puts a class into a row's sorted best, at `position` or before. Classes come in ascending order,
 * so that a later one goes behind equal logits.
 */
function insert(
  row: usize,
  k: usize,
  id: usize,
  position: usize,
  logits: usize,
  ids: usize,
  best: usize,
): void {
  const logit = load<f32>(logits + (row << 2));
  const start = (row * k) << 2;
  let at = start + (position << 2);
  for (; at > start && logit > load<f32>(best + at - 4); at -= 4) {
    store<f32>(best + at, load<f32>(best + at - 4));
    store<u32>(ids + at, load<u32>(ids + at - 4));
  }
  store<f32>(best + at, logit);
  store<u32>(ids + at, <u32>id);
}
