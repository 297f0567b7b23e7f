/**
 * The first layer over CSR rows. What it costs is waiting for rows of weights, which WebAssembly
 * can't prefetch. So the first pass over a row's non-zeros reads one word of every cache line of the
 * weights that come a few non-zeros later: by then they are there.
 */
import { activate, multiplyByDerivative } from "./activation";
import { sumColumns } from "./add-products";
import * as gradient from "./gradient";
import { multiplyAdd } from "./simd";

/** From an index to the one whose weights are touched; so many valid ones lie behind a batch's. */
export const bytesAhead: usize = 8 << 2;
/** Features between a touch and the use where a rule goes feature by feature. */
const featuresAhead: usize = 4;

/** Reads a word of each cache line from `row` to `end`; what it returns keeps the reads alive. */
// @ts-ignore: decorator
@inline
function touch(row: usize, end: usize): i32 {
  let words: i32 = 0;
  for (; row + 512 <= end; row += 512) {
    words |=
      load<i32>(row) |
      load<i32>(row, 64) |
      load<i32>(row, 128) |
      load<i32>(row, 192) |
      load<i32>(row, 256) |
      load<i32>(row, 320) |
      load<i32>(row, 384) |
      load<i32>(row, 448);
  }
  for (; row < end; row += 64) words |= load<i32>(row);
  return words;
}

/** Where the words go that are read for nothing. */
let sink: i32 = 0;

/** `out = activation(X · W + bias)` for `rows` rows whose first offset is at `offsets`. */
export function gather(
  rows: usize,
  offsets: usize,
  indices: usize,
  values: usize,
  weights: usize,
  bias: usize,
  units: usize,
  activation: i32,
  out: usize,
): void {
  const stride = units << 2;
  for (let row: usize = 0; row < rows; row++) {
    const begin = <usize>load<u32>(offsets) << 2;
    const end = <usize>load<u32>(offsets, 4) << 2;
    gatherRow(indices + begin, indices + end, values - indices, weights, bias, stride, out);
    offsets += 4;
    out += stride;
  }
  activate(activation, out - rows * stride, rows * units);
}

/** One row, 32 columns a pass; the value of the non-zero at i lies at i + toValue. */
function gatherRow(
  begin: usize,
  end: usize,
  toValue: usize,
  weights: usize,
  bias: usize,
  stride: usize,
  out: usize,
): void {
  let words: i32 = 0;
  let h: usize = 0;
  for (; h + 128 <= stride; h += 128) {
    const b = bias + h;
    let c0 = v128.load(b);
    let c1 = v128.load(b, 16);
    let c2 = v128.load(b, 32);
    let c3 = v128.load(b, 48);
    let c4 = v128.load(b, 64);
    let c5 = v128.load(b, 80);
    let c6 = v128.load(b, 96);
    let c7 = v128.load(b, 112);
    const column = weights + h;
    for (let i = begin; i < end; i += 4) {
      if (h == 0) {
        const next = weights + <usize>load<u32>(i + bytesAhead) * stride;
        words |= touch(next, next + stride);
      }
      const w = column + <usize>load<u32>(i) * stride;
      const x = v128.load32_splat(i + toValue);
      c0 = multiplyAdd(x, v128.load(w), c0);
      c1 = multiplyAdd(x, v128.load(w, 16), c1);
      c2 = multiplyAdd(x, v128.load(w, 32), c2);
      c3 = multiplyAdd(x, v128.load(w, 48), c3);
      c4 = multiplyAdd(x, v128.load(w, 64), c4);
      c5 = multiplyAdd(x, v128.load(w, 80), c5);
      c6 = multiplyAdd(x, v128.load(w, 96), c6);
      c7 = multiplyAdd(x, v128.load(w, 112), c7);
    }
    const o = out + h;
    v128.store(o, c0);
    v128.store(o, c1, 16);
    v128.store(o, c2, 32);
    v128.store(o, c3, 48);
    v128.store(o, c4, 64);
    v128.store(o, c5, 80);
    v128.store(o, c6, 96);
    v128.store(o, c7, 112);
  }
  for (; h + 16 <= stride; h += 16) {
    let c = v128.load(bias + h);
    for (let i = begin; i < end; i += 4) {
      if (h == 0) words |= load<i32>(weights + <usize>load<u32>(i + bytesAhead) * stride);
      const w = weights + <usize>load<u32>(i) * stride + h;
      c = multiplyAdd(v128.load32_splat(i + toValue), v128.load(w), c);
    }
    v128.store(out + h, c);
  }
  for (; h < stride; h += 4) {
    let c = load<f32>(bias + h);
    for (let i = begin; i < end; i += 4) {
      c += load<f32>(i + toValue) * load<f32>(weights + <usize>load<u32>(i) * stride + h);
    }
    store<f32>(out + h, c);
  }
  sink = words;
}

/** `target[f] += scale · x · dZ` for all non-zeros, and the bias by `room` for its gradient. */
export function scatter(
  rows: usize,
  offsets: usize,
  indices: usize,
  values: usize,
  units: usize,
  activation: i32,
  outputs: usize,
  dOutputs: usize,
  room: usize,
): void {
  const stride = units << 2;
  multiplyByDerivative(activation, outputs, dOutputs, rows * units);
  let d = dOutputs;
  for (let row: usize = 0; row < rows; row++) {
    const begin = <usize>load<u32>(offsets) << 2;
    const end = <usize>load<u32>(offsets, 4) << 2;
    scatterRow(indices + begin, indices + end, values - indices, stride, d);
    offsets += 4;
    d += stride;
  }
  sumColumns(dOutputs, rows, units, gradient.scale, room);
  gradient.apply(gradient.bias, 0, 0, room, units);
}

/** One row's additions to the weights, 32 columns a pass. */
function scatterRow(
  begin: usize,
  end: usize,
  toValue: usize,
  stride: usize,
  d: usize,
): void {
  const target = gradient.weights;
  const scale = f32x4.splat(gradient.scale);
  let words: i32 = 0;
  let h: usize = 0;
  for (; h + 128 <= stride; h += 128) {
    const p = d + h;
    const d0 = f32x4.mul(v128.load(p), scale);
    const d1 = f32x4.mul(v128.load(p, 16), scale);
    const d2 = f32x4.mul(v128.load(p, 32), scale);
    const d3 = f32x4.mul(v128.load(p, 48), scale);
    const d4 = f32x4.mul(v128.load(p, 64), scale);
    const d5 = f32x4.mul(v128.load(p, 80), scale);
    const d6 = f32x4.mul(v128.load(p, 96), scale);
    const d7 = f32x4.mul(v128.load(p, 112), scale);
    const column = target + h;
    for (let i = begin; i < end; i += 4) {
      if (h == 0) {
        const next = target + <usize>load<u32>(i + bytesAhead) * stride;
        words |= touch(next, next + stride);
      }
      const w = column + <usize>load<u32>(i) * stride;
      const x = v128.load32_splat(i + toValue);
      v128.store(w, multiplyAdd(x, d0, v128.load(w)));
      v128.store(w, multiplyAdd(x, d1, v128.load(w, 16)), 16);
      v128.store(w, multiplyAdd(x, d2, v128.load(w, 32)), 32);
      v128.store(w, multiplyAdd(x, d3, v128.load(w, 48)), 48);
      v128.store(w, multiplyAdd(x, d4, v128.load(w, 64)), 64);
      v128.store(w, multiplyAdd(x, d5, v128.load(w, 80)), 80);
      v128.store(w, multiplyAdd(x, d6, v128.load(w, 96)), 96);
      v128.store(w, multiplyAdd(x, d7, v128.load(w, 112)), 112);
    }
  }
  for (; h + 16 <= stride; h += 16) {
    const own = f32x4.mul(v128.load(d + h), scale);
    for (let i = begin; i < end; i += 4) {
      if (h == 0) words |= load<i32>(target + <usize>load<u32>(i + bytesAhead) * stride);
      const w = target + <usize>load<u32>(i) * stride + h;
      v128.store(w, multiplyAdd(v128.load32_splat(i + toValue), own, v128.load(w)));
    }
  }
  for (; h < stride; h += 4) {
    const own = load<f32>(d + h) * gradient.scale;
    for (let i = begin; i < end; i += 4) {
      const w = target + <usize>load<u32>(i) * stride + h;
      store<f32>(w, load<f32>(w) + load<f32>(i + toValue) * own);
    }
  }
  sink = words;
}

/**
 * As `scatter`, by a rule: it isn't linear in the gradient, so a feature's occurrences are summed
 * before it is applied. Takes the non-zeros as `columnOrder` leaves them.
 */
export function scatterByRule(
  rows: usize,
  columns: usize,
  columnCount: usize,
  ends: usize,
  columnRows: usize,
  columnValues: usize,
  units: usize,
  activation: i32,
  outputs: usize,
  dOutputs: usize,
  room: usize,
): void {
  const stride = units << 2;
  multiplyByDerivative(activation, outputs, dOutputs, rows * units);
  const scale = f32x4.splat(gradient.scale);
  const weights = gradient.weights;
  const weightsFirst = gradient.weightsFirst;
  const weightsSecond = gradient.weightsSecond;
  const toValue = columnValues - columnRows;
  let begin = columnRows;
  let words: i32 = 0;
  for (let slot: usize = 0; slot < columnCount; slot++) {
    if (slot + featuresAhead < columnCount) {
      const next = <usize>load<u32>(columns + ((slot + featuresAhead) << 2)) * stride;
      words |= touch(weights + next, weights + next + stride);
      words |= touch(weightsFirst + next, weightsFirst + next + stride);
      if (weightsSecond != 0) words |= touch(weightsSecond + next, weightsSecond + next + stride);
    }
    const end = columnRows + (<usize>load<u32>(ends + (slot << 2)) << 2);
    sumColumn(begin, end, toValue, dOutputs, stride, scale, room);
    begin = end;
    const at = <usize>load<u32>(columns + (slot << 2)) * stride;
    gradient.apply(weights + at, weightsFirst + at, weightsSecond + at, room, units);
  }
  sink = words;
  sumColumns(dOutputs, rows, units, gradient.scale, room);
  gradient.apply(gradient.bias, gradient.biasFirst, gradient.biasSecond, room, units);
}

/** `sums = scale · Σ x · dZ[row]` over the non-zeros of one feature. */
function sumColumn(
  begin: usize,
  end: usize,
  toValue: usize,
  dOutputs: usize,
  stride: usize,
  scale: v128,
  sums: usize,
): void {
  let h: usize = 0;
  for (; h + 64 <= stride; h += 64) {
    let c0 = f32x4.splat(0);
    let c1 = c0;
    let c2 = c0;
    let c3 = c0;
    for (let i = begin; i < end; i += 4) {
      const d = dOutputs + <usize>load<u32>(i) * stride + h;
      const x = v128.load32_splat(i + toValue);
      c0 = multiplyAdd(x, v128.load(d), c0);
      c1 = multiplyAdd(x, v128.load(d, 16), c1);
      c2 = multiplyAdd(x, v128.load(d, 32), c2);
      c3 = multiplyAdd(x, v128.load(d, 48), c3);
    }
    v128.store(sums + h, f32x4.mul(c0, scale));
    v128.store(sums + h, f32x4.mul(c1, scale), 16);
    v128.store(sums + h, f32x4.mul(c2, scale), 32);
    v128.store(sums + h, f32x4.mul(c3, scale), 48);
  }
  for (; h < stride; h += 4) {
    let c: f32 = 0;
    for (let i = begin; i < end; i += 4) {
      c += load<f32>(i + toValue) * load<f32>(dOutputs + <usize>load<u32>(i) * stride + h);
    }
    store<f32>(sums + h, c * f32x4.extract_lane(scale, 0));
  }
}
