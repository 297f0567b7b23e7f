/**
 * The two losses over one block of classes: logits of a tile become losses and derivatives in
 * place.
 */
import type { Batch } from "../contract.js";
import { sigmoid } from "./activation.js";
import type { FloatArray } from "./arrays.js";
import { addToLogSumExp, type LogSumExp } from "./tile.js";

/**
 * Scores of classes `first … first + count − 1`: class c's for row r is element `start + (c −
 * first)·stride + r`.
 */
export interface Block {
  first: number;
  count: number;
  start: number;
  stride: number;
  tile: FloatArray;
}

/** Points every row's cursor at its first label. */
export function resetCursors(batch: Batch, cursors: Uint32Array): void {
  for (let row = 0; row < batch.rows; row++) cursors[row] = batch.labelOffsets[row]!;
}

/**
 * Moves a row's cursor behind its labels of this block and returns where it was. Labels ascend
 * within a row, so that one cursor a row walks through them as the blocks pass by.
 */
function passLabels(batch: Batch, block: Block, row: number, cursors: Uint32Array): number {
  const from = cursors[row]!;
  const end = batch.labelOffsets[row + 1]!;
  const firstBeyond = block.first + block.count;
  let i = from;
  while (i < end && batch.labels[i]! < firstBeyond) i++;
  cursors[row] = i;
  return from;
}

function labelCount(batch: Batch, row: number): number {
  return batch.labelOffsets[row + 1]! - batch.labelOffsets[row]!;
}

/** First pass of the softmax: running normaliser, and minus the mean logit of the labels. */
export function softmaxSums(
  batch: Batch,
  block: Block,
  cursors: Uint32Array,
  running: LogSumExp,
  losses: Float64Array,
): void {
  const { first, count, start, stride, tile } = block;
  for (let row = 0; row < batch.rows; row++) {
    const labels = labelCount(batch, row);
    if (labels === 0) continue;
    addToLogSumExp(running, row, tile, start, stride, count);
    let sum = 0;
    for (let i = passLabels(batch, block, row, cursors); i < cursors[row]!; i++) {
      sum += tile[start + (batch.labels[i]! - first) * stride + row]!;
    }
    losses[row] = losses[row]! - sum / labels;
  }
}

/**
 * Between the passes: the losses become complete, and `running.maxima` the logarithms of the
 * normalisers.
 */
export function finishSoftmax(batch: Batch, running: LogSumExp, losses: Float64Array): void {
  for (let row = 0; row < batch.rows; row++) {
    if (labelCount(batch, row) === 0) continue;
    const logSum = running.maxima[row]! + Math.log(running.sums[row]!);
    running.maxima[row] = logSum;
    losses[row] = losses[row]! + logSum;
  }
}

/** Second pass of the softmax: logits become p − y, where y is 1/n on each of a row's n labels. */
export function softmaxDerivatives(
  batch: Batch,
  block: Block,
  cursors: Uint32Array,
  logSums: Float64Array,
): void {
  const { first, count, start, stride, tile } = block;
  for (let row = 0; row < batch.rows; row++) {
    const labels = labelCount(batch, row);
    const end = start + count * stride + row;
    if (labels === 0) {
      for (let i = start + row; i < end; i += stride) tile[i] = 0;
      continue;
    }
    const logSum = logSums[row]!;
    for (let i = start + row; i < end; i += stride) tile[i] = Math.exp(tile[i]! - logSum);
    for (let i = passLabels(batch, block, row, cursors); i < cursors[row]!; i++) {
      const position = start + (batch.labels[i]! - first) * stride + row;
      tile[position] = tile[position]! - 1 / labels;
    }
  }
}

/** Independent sigmoids: adds the cross-entropies to the losses, and logits become σ − y. */
export function sigmoidLosses(
  batch: Batch,
  block: Block,
  cursors: Uint32Array,
  losses: Float64Array,
): void {
  const { first, count, start, stride, tile } = block;
  for (let row = 0; row < batch.rows; row++) {
    const end = start + count * stride + row;
    if (labelCount(batch, row) === 0) {
      for (let i = start + row; i < end; i += stride) tile[i] = 0;
      continue;
    }
    const from = passLabels(batch, block, row, cursors);
    const to = cursors[row]!;
    let loss = 0;
    for (let i = from; i < to; i++) {
      loss -= tile[start + (batch.labels[i]! - first) * stride + row]!;
    }
    for (let i = start + row; i < end; i += stride) {
      const z = tile[i]!;
      // log(1 + eᶻ) without overflow.
      loss += Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
      tile[i] = sigmoid(z);
    }
    for (let i = from; i < to; i++) {
      const position = start + (batch.labels[i]! - first) * stride + row;
      tile[position] = tile[position]! - 1;
    }
    losses[row] = losses[row]! + loss;
  }
}
