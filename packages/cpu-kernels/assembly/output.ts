/**
 * The output layer and its loss over blocks of classes whose scores stay in cache: one pass for
 * sigmoids, two for the softmax, whose normaliser needs all logits first. The first keeps
 * exponentials for the second as far as there is room; beyond, logits are computed again.
 *
 * A block's scores are class-major, so that sums over classes run down vector lanes (one row of the
 * batch each) and both gradient products read contiguous memory.
 */
import { addPackedProducts, addProducts, packColumns } from "./add-products";
import * as gradient from "./gradient";
import {
  addLogSumExp,
  clearRows,
  maskRows,
  sigmoidBlock,
  softmaxBlock,
  softmaxBlockFromKept,
  takeLabels,
  finishSoftmax,
  finishSigmoid,
} from "./losses";
import { pack, packedLanes, scores } from "./products";
import { sum } from "./simd";

/** Classes of a block: 24 KiB of weights at 128 units. */
export const blockClasses: usize = 48;
/** Rows whose derivatives are multiplied at a time; their panels stay in the first cache. */
const rowsAtOnce: usize = 256;
/** From this many rows on, packing a block's weights pays. */
const packedRows: usize = 64;

const softmax = 0;

let rows: usize = 0;
let units: usize = 0;
/** Bytes from one class of a tile to the next. */
let stride: usize = 0;
let weights: usize = 0;
let dHidden: usize = 0;
/** The hidden rows, scaled and packed by columns. */
let scaledHidden: usize = 0;
/** Room for a block's weights, packed by columns. */
let weightPanels: usize = 0;
let gradientRoom: usize = 0;

/**
 * The whole operation; see the contract. `derivatives` 0: none are wanted. `panels` and `scaled`
 * have room for the packed hidden rows, `weightRoom` for a block's weights, `tile` for a block's
 * scores, `kept` for those of `keptBlocks` blocks and `keptMaxima` for one row of a tile for each;
 * `rowState` for 5 floats for every lane, `room` for a block's gradient (rules only) and its bias's.
 */
export function output(
  loss: i32,
  rowCount: usize,
  hidden: usize,
  inputs: usize,
  classes: usize,
  layerWeights: usize,
  layerBias: usize,
  labelOffsets: usize,
  labelClasses: usize,
  labelRows: usize,
  labelCount: usize,
  derivatives: usize,
  losses: usize,
  panels: usize,
  scaled: usize,
  weightRoom: usize,
  tile: usize,
  tileStride: usize,
  kept: usize,
  keptBlocks: usize,
  keptMaxima: usize,
  rowState: usize,
  room: usize,
): void {
  rows = rowCount;
  units = inputs;
  stride = tileStride << 2;
  weights = layerWeights;
  dHidden = derivatives;
  scaledHidden = scaled;
  weightPanels = weightRoom;
  gradientRoom = room;
  const lanes = packedLanes(rows);
  const laneBytes = lanes << 2;
  const maxima = rowState;
  const sums = maxima + laneBytes;
  const masks = sums + laneBytes;
  const totals = masks + laneBytes;
  const labelEnd = labelClasses + (labelCount << 2);
  const toRow = labelRows - labelClasses;

  pack(hidden, rows, units, panels);
  if (dHidden != 0) memory.fill(dHidden, 0, (rows * units) << 2);
  if (gradient.kind != gradient.none) packColumns(hidden, rows, units, gradient.scale, scaled);
  clearRows(lanes, maxima, sums, totals);
  maskRows(rows, lanes, labelOffsets, masks);
  const backward = dHidden != 0 || gradient.kind != gradient.none;
  let label = labelClasses;

  if (loss != softmax) {
    for (let first: usize = 0; first < classes; first += blockClasses) {
      const count = min(blockClasses, classes - first);
      score(panels, first, count, layerBias, tile);
      takeLabels(label, labelEnd, toRow, first, count, tile, stride, 0, totals);
      sigmoidBlock(tile, stride, count, lanes, masks, totals);
      label = markLabels(label, labelEnd, toRow, first, count, tile, 0);
      if (backward) propagate(first, count, tile);
    }
    finishSigmoid(rows, totals, losses);
    return;
  }

  let block: usize = 0;
  for (let first: usize = 0; first < classes; first += blockClasses) {
    const count = min(blockClasses, classes - first);
    const keep = backward && block < keptBlocks;
    const target = keep ? kept + first * stride : tile;
    score(panels, first, count, layerBias, target);
    label = takeLabels(label, labelEnd, toRow, first, count, target, stride, labelOffsets, totals);
    const blockMaxima = keep ? keptMaxima + block * stride : 0;
    addLogSumExp(target, stride, count, lanes, maxima, sums, blockMaxima);
    block++;
  }
  finishSoftmax(rows, lanes, maxima, sums, masks, totals, losses);
  if (!backward) return;

  label = labelClasses;
  block = 0;
  for (let first: usize = 0; first < classes; first += blockClasses) {
    const count = min(blockClasses, classes - first);
    if (block < keptBlocks) {
      const source = kept + first * stride;
      const blockMaxima = keptMaxima + block * stride;
      softmaxBlockFromKept(source, tile, stride, count, lanes, blockMaxima, maxima, sums, masks);
    } else {
      score(panels, first, count, layerBias, tile);
      softmaxBlock(tile, stride, count, lanes, maxima, sums, masks);
    }
    label = markLabels(label, labelEnd, toRow, first, count, tile, labelOffsets);
    propagate(first, count, tile);
    block++;
  }
}

// @ts-ignore: decorator
@inline
function score(panels: usize, first: usize, count: usize, bias: usize, tile: usize): void {
  const w = weights + ((first * units) << 2);
  scores(panels, rows, units, w, count, bias + (first << 2), tile, stride);
}

/**
 * Takes the targets off the derivatives of a block: 1/n on each of a row's n labels, or 1 without
 * offsets. Returns the first label of the next block.
 */
function markLabels(
  label: usize,
  end: usize,
  toRow: usize,
  first: usize,
  count: usize,
  tile: usize,
  labelOffsets: usize,
): usize {
  for (; label < end && <usize>load<u32>(label) < first + count; label += 4) {
    const row = <usize>load<u32>(label + toRow) << 2;
    const at = tile + (<usize>load<u32>(label) - first) * stride + row;
    let target: f32 = 1;
    if (labelOffsets != 0) {
      const offset = labelOffsets + row;
      target = 1 / <f32>(load<u32>(offset, 4) - load<u32>(offset));
    }
    store<f32>(at, load<f32>(at) - target);
  }
  return label;
}

/** A block's derivatives go back to the hidden rows, and into the gradient. */
function propagate(first: usize, count: usize, tile: usize): void {
  const width = units << 2;
  const at = first * width;
  if (dHidden != 0 && rows < packedRows) {
    addProducts(tile, 4, stride, rows, count, weights + at, units, dHidden);
  } else if (dHidden != 0) {
    packColumns(weights + at, count, units, 1, weightPanels);
    addPackedProducts(tile, 4, stride, rows, count, weightPanels, count, 0, units, dHidden);
  }
  if (gradient.kind == gradient.none) return;
  const isRule = gradient.kind != gradient.add;
  let target = gradient.weights + at;
  if (isRule) {
    target = gradientRoom;
    memory.fill(target, 0, count * width);
  }
  for (let row: usize = 0; row < rows; row += rowsAtOnce) {
    const own = min(rowsAtOnce, rows - row);
    const d = tile + (row << 2);
    addPackedProducts(d, stride, 4, count, own, scaledHidden, rows, row, units, target);
  }
  if (isRule) {
    const places = gradient.weights + at;
    const firstState = gradient.weightsFirst + at;
    gradient.apply(places, firstState, gradient.weightsSecond + at, target, count * units);
  }
  for (let i: usize = 0; i < count; i++) {
    store<f32>(gradientRoom + (i << 2), gradient.scale * sumLanes(tile + i * stride));
  }
  const b = first << 2;
  const firstState = gradient.biasFirst + b;
  gradient.apply(gradient.bias + b, firstState, gradient.biasSecond + b, gradientRoom, count);
}

/** The sum of one class's derivatives; lanes beyond the rows are 0. */
function sumLanes(p: usize): f32 {
  let total = f32x4.splat(0);
  for (const end = p + (packedLanes(rows) << 2); p < end; p += 16) {
    total = f32x4.add(total, v128.load(p));
  }
  return sum(total);
}
