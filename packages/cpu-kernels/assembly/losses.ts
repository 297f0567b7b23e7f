/** The two losses over one block of classes, four rows of the batch at a time. */
import { exp, log, log1p, sigmoidFrom } from "./simd";

/** Starts every row's running maximum, sum of exponentials and loss. */
export function clearRows(lanes: usize, maxima: usize, sums: usize, totals: usize): void {
  memory.fill(sums, 0, lanes << 2);
  memory.fill(totals, 0, lanes << 3);
  for (const end = maxima + (lanes << 2); maxima < end; maxima += 16) {
    v128.store(maxima, f32x4.splat(-Infinity));
  }
}

/** All bits set where a lane is a row that has labels, none elsewhere. */
export function maskRows(rows: usize, lanes: usize, labelOffsets: usize, masks: usize): void {
  for (let lane: usize = 0; lane < lanes; lane++) {
    const offset = labelOffsets + (lane << 2);
    const counts = lane < rows && load<u32>(offset, 4) > load<u32>(offset);
    store<i32>(masks + (lane << 2), counts ? -1 : 0);
  }
}

/**
 * Takes the labels' logits of a block off their rows' losses: their mean under the softmax (with
 * offsets), each of them without. Returns the first label of the next block.
 */
export function takeLabels(
  label: usize,
  end: usize,
  toRow: usize,
  first: usize,
  count: usize,
  tile: usize,
  stride: usize,
  labelOffsets: usize,
  totals: usize,
): usize {
  for (; label < end && <usize>load<u32>(label) < first + count; label += 4) {
    const row = <usize>load<u32>(label + toRow);
    let logit: f64 = load<f32>(tile + (<usize>load<u32>(label) - first) * stride + (row << 2));
    if (labelOffsets != 0) {
      const offset = labelOffsets + (row << 2);
      logit /= <f64>(load<u32>(offset, 4) - load<u32>(offset));
    }
    const total = totals + (row << 3);
    store<f64>(total, load<f64>(total) - logit);
  }
  return label;
}

/**
 * Takes a block's logits into the running sums of exponentials below the running maximum. With
 * `blockMaxima` (not 0) the exponentials replace the logits, and the maximum that they are below is
 * kept there.
 */
export function addLogSumExp(
  tile: usize,
  stride: usize,
  count: usize,
  lanes: usize,
  maxima: usize,
  sums: usize,
  blockMaxima: usize,
): void {
  const height = count * stride;
  for (let lane: usize = 0; lane < lanes << 2; lane += 16) {
    const begin = tile + lane;
    const end = begin + height;
    const before = v128.load(maxima + lane);
    let maximum = before;
    for (let p = begin; p < end; p += stride) maximum = f32x4.pmax(maximum, v128.load(p));
    let total = f32x4.mul(v128.load(sums + lane), exp(f32x4.sub(before, maximum)));
    // Where nothing but −∞ or NaN has come yet, the first factor is NaN; the sum is still 0.
    total = v128.andnot(total, f32x4.eq(v128.load(sums + lane), f32x4.splat(0)));
    if (blockMaxima == 0) {
      for (let p = begin; p < end; p += stride) {
        total = f32x4.add(total, exp(f32x4.sub(v128.load(p), maximum)));
      }
    } else {
      for (let p = begin; p < end; p += stride) {
        const e = exp(f32x4.sub(v128.load(p), maximum));
        total = f32x4.add(total, e);
        v128.store(p, e);
      }
      v128.store(blockMaxima + lane, maximum);
    }
    v128.store(maxima + lane, maximum);
    v128.store(sums + lane, total);
  }
}

/** Between the passes: losses become complete, sums their reciprocals. */
export function finishSoftmax(
  rows: usize,
  lanes: usize,
  maxima: usize,
  sums: usize,
  masks: usize,
  totals: usize,
  losses: usize,
): void {
  for (let row: usize = 0; row < rows; row++) {
    const at = row << 2;
    let loss: f64 = 0;
    if (load<i32>(masks + at) != 0) {
      loss = load<f64>(totals + (row << 3)) + <f64>load<f32>(maxima + at);
      loss += log(<f64>load<f32>(sums + at));
    }
    store<f32>(losses + at, <f32>loss);
  }
  for (let lane: usize = 0; lane < lanes << 2; lane += 16) {
    v128.store(sums + lane, f32x4.div(f32x4.splat(1), v128.load(sums + lane)));
  }
}

/** Second pass: logits become probabilities, 0 where a row doesn't count. */
export function softmaxBlock(
  tile: usize,
  stride: usize,
  count: usize,
  lanes: usize,
  maxima: usize,
  reciprocals: usize,
  masks: usize,
): void {
  const height = count * stride;
  for (let lane: usize = 0; lane < lanes << 2; lane += 16) {
    const maximum = v128.load(maxima + lane);
    const factor = v128.load(reciprocals + lane);
    const mask = v128.load(masks + lane);
    const begin = tile + lane;
    for (let p = begin; p < begin + height; p += stride) {
      const e = exp(f32x4.sub(v128.load(p), maximum));
      v128.store(p, v128.and(f32x4.mul(e, factor), mask));
    }
  }
}

/** The same from kept exponentials. */
export function softmaxBlockFromKept(
  kept: usize,
  tile: usize,
  stride: usize,
  count: usize,
  lanes: usize,
  blockMaxima: usize,
  maxima: usize,
  reciprocals: usize,
  masks: usize,
): void {
  const height = count * stride;
  const toTile = tile - kept;
  for (let lane: usize = 0; lane < lanes << 2; lane += 16) {
    const below = f32x4.sub(v128.load(blockMaxima + lane), v128.load(maxima + lane));
    const factor = f32x4.mul(exp(below), v128.load(reciprocals + lane));
    const mask = v128.load(masks + lane);
    const begin = kept + lane;
    for (let p = begin; p < begin + height; p += stride) {
      v128.store(p + toTile, v128.and(f32x4.mul(v128.load(p), factor), mask));
    }
  }
}

/** Independent sigmoids: adds log(1 + eᶻ) to the losses, and logits become σ(z). */
export function sigmoidBlock(
  tile: usize,
  stride: usize,
  count: usize,
  lanes: usize,
  masks: usize,
  totals: usize,
): void {
  const height = count * stride;
  for (let lane: usize = 0; lane < lanes << 2; lane += 16) {
    const mask = v128.load(masks + lane);
    const begin = tile + lane;
    let loss = f32x4.splat(0);
    for (let p = begin; p < begin + height; p += stride) {
      const z = v128.load(p);
      const e = exp(f32x4.neg(f32x4.abs(z)));
      loss = f32x4.add(loss, f32x4.add(f32x4.pmax(z, f32x4.splat(0)), log1p(e)));
      v128.store(p, v128.and(sigmoidFrom(z, e), mask));
    }
    loss = v128.and(loss, mask);
    const total = totals + (lane << 1);
    v128.store(total, f64x2.add(v128.load(total), f64x2.promote_low_f32x4(loss)));
    const high = f64x2.promote_low_f32x4(v128.shuffle<f64>(loss, loss, 1, 1));
    v128.store(total, f64x2.add(v128.load(total, 16), high), 16);
  }
}

/** Writes the losses of sigmoids. */
export function finishSigmoid(rows: usize, totals: usize, losses: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    store<f32>(losses + (row << 2), <f32>load<f64>(totals + (row << 3)));
  }
}
