/**
 * The output layer and its loss, block of classes by block, in one pass (sigmoid) or two (softmax,
 * whose normaliser needs all logits first). Gradients take effect block by block too, so that no
 * array of rows × classes or classes × units is needed. Only the softmax's logits are kept for its
 * second pass, if they fit a budget.
 */
import type { Batch, GradientTarget, Layer, Loss } from "../contract.js";
import { applyGradient } from "./apply-gradient.js";
import { makeFloat64, makeUint32, reusable, type FloatArray } from "./arrays.js";
import {
  finishSoftmax,
  resetCursors,
  sigmoidLosses,
  softmaxDerivatives,
  softmaxSums,
} from "./loss-blocks.js";
import { addProduct, sumRows } from "./matrix.js";
import { blockClasses, resetLogSumExp, scoreBlock, tileStride } from "./tile.js";

/**
 * Makes `Kernels.output`, which keeps its buffers: one block's scores and gradient, and the logits
 * of all classes where they take at most `keptLogits` elements. Beyond, the second pass computes
 * them again.
 */
export function createOutput<A extends FloatArray>(
  allocate: (length: number) => A,
  keptLogits: number,
) {
  const tileOf = reusable(allocate);
  const gradientOf = reusable(allocate);
  const maximaOf = reusable(makeFloat64);
  const sumsOf = reusable(makeFloat64);
  const lossesOf = reusable(makeFloat64);
  const cursorsOf = reusable(makeUint32);
  const block = { first: 0, count: 0, start: 0, stride: 0, tile: tileOf(0) };

  /** The block's derivatives go back to the hidden rows and into the gradient. */
  function propagate(
    rows: number,
    hidden: A,
    layer: Layer<A>,
    gradient: GradientTarget<A> | null,
    dHidden: A | null,
  ): void {
    const { first, count, start, stride, tile } = block;
    const width = layer.inputs;
    if (dHidden !== null) {
      const { weights } = layer;
      addProduct(tile, start, 1, stride, rows, count, weights, first * width, width, dHidden);
    }
    if (gradient !== null) {
      const values = gradientOf(blockClasses * width);
      values.fill(0, 0, count * width);
      addProduct(tile, start, stride, 1, count, rows, hidden, 0, width, values);
      applyGradient(gradient, "weights", first * width, values, count * width);
      sumRows(tile, start, stride, 1, count, rows, values);
      applyGradient(gradient, "bias", first, values, count);
    }
  }

  return (
    batch: Batch,
    hidden: A,
    layer: Layer<A>,
    loss: Loss,
    gradient: GradientTarget<A> | null,
    dHidden: A | null,
    losses: A,
  ): void => {
    const { rows } = batch;
    const classes = layer.outputs;
    const stride = tileStride(rows);
    const keep = loss === "softmax" && classes * stride <= keptLogits;
    const backward = gradient !== null || dHidden !== null;
    const cursors = cursorsOf(rows);
    const sums = lossesOf(rows);
    const running = { maxima: maximaOf(rows), sums: sumsOf(rows) };
    block.tile = tileOf(stride * (keep ? classes : blockClasses));
    block.stride = stride;

    const moveTo = (first: number, score: boolean): void => {
      block.first = first;
      block.count = Math.min(blockClasses, classes - first);
      block.start = keep ? first * stride : 0;
      if (score) scoreBlock(rows, hidden, layer, first, block.count, block.tile, block.start);
    };

    sums.fill(0, 0, rows);
    dHidden?.fill(0, 0, rows * layer.inputs);
    resetCursors(batch, cursors);
    if (loss === "sigmoid") {
      for (let first = 0; first < classes; first += blockClasses) {
        moveTo(first, true);
        sigmoidLosses(batch, block, cursors, sums);
        if (backward) propagate(rows, hidden, layer, gradient, dHidden);
      }
    } else {
      resetLogSumExp(running, rows);
      for (let first = 0; first < classes; first += blockClasses) {
        moveTo(first, true);
        softmaxSums(batch, block, cursors, running, sums);
      }
      finishSoftmax(batch, running, sums);
      resetCursors(batch, cursors);
      const end = backward ? classes : 0;
      for (let first = 0; first < end; first += blockClasses) {
        moveTo(first, !keep);
        softmaxDerivatives(batch, block, cursors, running.maxima);
        propagate(rows, hidden, layer, gradient, dHidden);
      }
    }
    for (let row = 0; row < rows; row++) losses[row] = sums[row]!;
  };
}
