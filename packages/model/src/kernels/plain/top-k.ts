import type { Layer } from "../contract.js";
import { makeFloat64, reusable, type FloatArray } from "./arrays.js";
import { addToLogSumExp, blockClasses, resetLogSumExp, scoreBlock, tileStride } from "./tile.js";

/** Makes `Kernels.topK`, which keeps room for one block of scores and the best so far. */
export function createTopKKernel<A extends FloatArray>(allocate: (length: number) => A) {
  const tileOf = reusable(allocate);
  const bestOf = reusable(allocate);
  const maximaOf = reusable(makeFloat64);
  const sumsOf = reusable(makeFloat64);

  return (
    rows: number,
    hidden: A,
    layer: Layer<A>,
    k: number,
    ids: Uint32Array,
    logits: Float32Array,
    logSumExp: Float32Array,
  ): void => {
    const stride = tileStride(rows);
    const tile = tileOf(blockClasses * stride);
    const best = bestOf(rows * k);
    const running = { maxima: maximaOf(rows), sums: sumsOf(rows) };
    resetLogSumExp(running, rows);

    for (let first = 0; first < layer.outputs; first += blockClasses) {
      const count = Math.min(blockClasses, layer.outputs - first);
      scoreBlock(rows, hidden, layer, first, count, tile, 0);
      for (let row = 0; row < rows; row++) {
        addToLogSumExp(running, row, tile, 0, stride, count);
        for (let c = 0; c < count; c++) {
          insert(best, ids, row * k, k, first + c, tile[c * stride + row]!);
        }
      }
    }
    for (let i = 0; i < rows * k; i++) logits[i] = best[i]!;
    for (let row = 0; row < rows; row++) {
      logSumExp[row] = running.maxima[row]! + Math.log(running.sums[row]!);
    }
  };
}

/**
 * Puts a class into a row's sorted best. Classes come in ascending order, so that a later one goes
 * behind equal logits; the first k all go in, whatever their logits, so that ids are valid even in
 * a diverged network.
 */
function insert(
  best: FloatArray,
  ids: Uint32Array,
  start: number,
  k: number,
  id: number,
  logit: number,
): void {
  let position = Math.min(id, k);
  if (position === k && !(logit > best[start + k - 1]!)) return;
  if (position === k) position--;
  for (; position > 0 && logit > best[start + position - 1]!; position--) {
    best[start + position] = best[start + position - 1]!;
    ids[start + position] = ids[start + position - 1]!;
  }
  best[start + position] = logit;
  ids[start + position] = id;
}
