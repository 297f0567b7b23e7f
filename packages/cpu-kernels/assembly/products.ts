/**
 * The dense products, in register tiles of four rows by eight columns. Larger tiles would need more
 * registers than the engine has: 8 sums, 2 vectors, 4 multipliers and a product of 15.
 *
 * The engine moves all loads between two branches before the arithmetic. So two terms in a row would
 * need 6 registers more, unless there is a branch between them; the loops below leave there when the
 * number of terms is odd, which makes up for a loop over what is left as well. (From 26 to 38 GF/s.)
 *
 * Two kinds. `scores` has its vectors over lanes of a packed operand (`pack`): samples of a batch,
 * or units of a layer. `addProducts…` have theirs over columns of plain rows, and need no packing.
 */
import { multiplyAdd, sum } from "./simd";

/** Lanes that `lanes` items take when packed: whole panels of eight, the last one of four if it does. */
export function packedLanes(lanes: usize): usize {
  return (lanes + 3) & ~3;
}

/**
 * Packs `lanes` rows of `inner` floats into panels of eight lanes, element by element: the first
 * element of the eight rows, then the second … Missing rows are zeros; a last panel of up to four
 * rows is four wide.
 */
export function pack(source: usize, lanes: usize, inner: usize, panels: usize): void {
  const stride = inner << 2;
  let lane: usize = 0;
  for (; lane + 8 <= lanes; lane += 8) {
    packFour(source, stride, inner, panels, 32);
    packFour(source + (stride << 2), stride, inner, panels + 16, 32);
    source += stride << 3;
    panels += inner << 5;
  }
  if (lane == lanes) return;
  const left = lanes - lane;
  const step: usize = left > 4 ? 32 : 16;
  memory.fill(panels, 0, inner * step);
  for (let i: usize = 0; i < left; i++) {
    for (let k: usize = 0; k < inner; k++) {
      store<f32>(panels + k * step + (i << 2), load<f32>(source + i * stride + (k << 2)));
    }
  }
}

/** Transposes four rows into one half of a panel. */
function packFour(source: usize, stride: usize, inner: usize, panel: usize, step: usize): void {
  const s1 = source + stride;
  const s2 = s1 + stride;
  const s3 = s2 + stride;
  const blocked = (inner & ~3) << 2;
  let k: usize = 0;
  for (; k < blocked; k += 16) {
    const r0 = v128.load(source + k);
    const r1 = v128.load(s1 + k);
    const r2 = v128.load(s2 + k);
    const r3 = v128.load(s3 + k);
    const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5);
    const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7);
    const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
    const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
    v128.store(panel, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
    v128.store(panel + step, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
    panel += step << 1;
    v128.store(panel, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
    v128.store(panel + step, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
    panel += step << 1;
  }
  for (; k < inner << 2; k += 4) {
    store<f32>(panel, load<f32>(source + k));
    store<f32>(panel, load<f32>(s1 + k), 4);
    store<f32>(panel, load<f32>(s2 + k), 8);
    store<f32>(panel, load<f32>(s3 + k), 12);
    panel += step;
  }
}

/**
 * `out[i][lane] = bias[i] + Σk w[i][k] · packed[k][lane]` for `count` rows i of `w`, rows of `out`
 * being `outStride` bytes apart. Without a bias (0) sums start at 0.
 */
export function scores(
  panels: usize,
  lanes: usize,
  inner: usize,
  w: usize,
  count: usize,
  bias: usize,
  out: usize,
  outStride: usize,
): void {
  const blocked = count & ~3;
  const wStride = inner << 2;
  for (let lane: usize = 0; lane < lanes; lane += 8) {
    const wide = lane + 4 < lanes;
    let o = out + (lane << 2);
    let row = w;
    let b = bias;
    let i: usize = 0;
    for (; i < blocked; i += 4) {
      if (wide) scoreEight(panels, row, wStride, inner, b, o, outStride);
      else scoreFour(panels, row, wStride, inner, b, o, outStride);
      row += wStride << 2;
      o += outStride << 2;
      if (bias != 0) b += 16;
    }
    for (; i < count; i++) {
      if (wide) {
        scoreRow(panels, 32, row, inner, b, o);
        scoreRow(panels + 16, 32, row, inner, b, o + 16);
      } else {
        scoreRow(panels, 16, row, inner, b, o);
      }
      row += wStride;
      o += outStride;
      if (bias != 0) b += 4;
    }
    panels += inner << 5;
  }
}

// @ts-ignore: decorator
@inline
function start(bias: usize): v128 {
  return bias == 0 ? f32x4.splat(0) : v128.load32_splat(bias);
}

/** Four rows by eight lanes. */
function scoreEight(
  panel: usize,
  w0: usize,
  wStride: usize,
  inner: usize,
  bias: usize,
  out: usize,
  outStride: usize,
): void {
  let c00 = start(bias);
  let c01 = c00;
  let c10 = start(bias == 0 ? 0 : bias + 4);
  let c11 = c10;
  let c20 = start(bias == 0 ? 0 : bias + 8);
  let c21 = c20;
  let c30 = start(bias == 0 ? 0 : bias + 12);
  let c31 = c30;
  let w1 = w0 + wStride;
  let w2 = w1 + wStride;
  let w3 = w2 + wStride;
  let a: v128;
  let b: v128;
  let w: v128;
  let k = inner;
  while (true) {
    a = v128.load(panel);
    b = v128.load(panel, 16);
    w = v128.load32_splat(w0);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(w1);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(w2);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(w3);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    if (k == 1) break;

    a = v128.load(panel, 32);
    b = v128.load(panel, 48);
    w = v128.load32_splat(w0, 4);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(w1, 4);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(w2, 4);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(w3, 4);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    k -= 2;
    if (k == 0) break;
    panel += 64;
    w0 += 8;
    w1 += 8;
    w2 += 8;
    w3 += 8;
  }
  v128.store(out, c00);
  v128.store(out, c01, 16);
  out += outStride;
  v128.store(out, c10);
  v128.store(out, c11, 16);
  out += outStride;
  v128.store(out, c20);
  v128.store(out, c21, 16);
  out += outStride;
  v128.store(out, c30);
  v128.store(out, c31, 16);
}

/** Four rows by four lanes: the last samples of a batch, and all of a batch of up to four. */
function scoreFour(
  panel: usize,
  w0: usize,
  wStride: usize,
  inner: usize,
  bias: usize,
  out: usize,
  outStride: usize,
): void {
  let c0 = start(bias);
  let c1 = start(bias == 0 ? 0 : bias + 4);
  let c2 = start(bias == 0 ? 0 : bias + 8);
  let c3 = start(bias == 0 ? 0 : bias + 12);
  let w1 = w0 + wStride;
  let w2 = w1 + wStride;
  let w3 = w2 + wStride;
  const end = panel + (inner << 4);
  while (panel < end) {
    const a = v128.load(panel);
    c0 = multiplyAdd(v128.load32_splat(w0), a, c0);
    c1 = multiplyAdd(v128.load32_splat(w1), a, c1);
    c2 = multiplyAdd(v128.load32_splat(w2), a, c2);
    c3 = multiplyAdd(v128.load32_splat(w3), a, c3);
    panel += 16;
    w0 += 4;
    w1 += 4;
    w2 += 4;
    w3 += 4;
  }
  v128.store(out, c0);
  out += outStride;
  v128.store(out, c1);
  out += outStride;
  v128.store(out, c2);
  out += outStride;
  v128.store(out, c3);
}

/** One row by four lanes of a panel whose elements are `step` bytes apart. */
function scoreRow(
  panel: usize,
  step: usize,
  w: usize,
  inner: usize,
  bias: usize,
  out: usize,
): void {
  let c = start(bias);
  const end = w + (inner << 2);
  for (; w < end; w += 4) {
    c = multiplyAdd(v128.load32_splat(w), v128.load(panel), c);
    panel += step;
  }
  v128.store(out, c);
}

/** `Σk a[k] · b[k]` over `inner` floats. */
export function dot(a: usize, b: usize, inner: usize): f32 {
  let c0 = f32x4.splat(0);
  let c1 = c0;
  let k: usize = 0;
  for (; k + 8 <= inner; k += 8) {
    c0 = multiplyAdd(v128.load(a), v128.load(b), c0);
    c1 = multiplyAdd(v128.load(a, 16), v128.load(b, 16), c1);
    a += 32;
    b += 32;
  }
  let total = sum(f32x4.add(c0, c1));
  for (; k < inner; k++) {
    total += load<f32>(a) * load<f32>(b);
    a += 4;
    b += 4;
  }
  return total;
}
