/**
 * Products whose vectors run over columns of plain rows, added to what is there. The loops have the
 * form that `products.ts` explains.
 */
import { multiplyAdd } from "./simd";

/**
 * Packs `rows` rows of `width` floats, times `scale`, into panels of eight columns: the first eight
 * elements of each row, then the next … and what is left of each. Read down as they lie, rows a power
 * of two long would all fall into the same few sets of the first cache.
 */
export function packColumns(
  source: usize,
  rows: usize,
  width: usize,
  scale: f32,
  panels: usize,
): void {
  const stride = width << 2;
  const blockedBytes = (width & ~7) << 2;
  const end = source + rows * stride;
  const factor = f32x4.splat(scale);
  for (let j: usize = 0; j < blockedBytes; j += 32) {
    for (let p = source + j; p < end; p += stride) {
      v128.store(panels, f32x4.mul(v128.load(p), factor));
      v128.store(panels, f32x4.mul(v128.load(p, 16), factor), 16);
      panels += 32;
    }
  }
  if (blockedBytes == stride) return;
  for (; source < end; source += stride) {
    for (let j = blockedBytes; j < stride; j += 4) {
      store<f32>(panels, load<f32>(source + j) * scale);
      panels += 4;
    }
  }
}

/**
 * `out[i][j] += Σk d[k·dStep + i·dRow] · q[k][j]` for `rows` rows i, `inner` terms k and `width`
 * columns j. Rows of `q` and `out` are `width` floats long; `dStep` and `dRow` are bytes, one of
 * them 4.
 */
export function addProducts(
  d: usize,
  dRow: usize,
  dStep: usize,
  rows: usize,
  inner: usize,
  q: usize,
  width: usize,
  out: usize,
): void {
  const stride = width << 2;
  const tail = q + ((width & ~7) << 2);
  addPanels(d, dRow, dStep, rows, inner, q, stride, 32, tail, stride, width, out);
}

/**
 * The same where `q` was packed by columns, `packedRows` rows of it, of which those from `first` on
 * are multiplied.
 */
export function addPackedProducts(
  d: usize,
  dRow: usize,
  dStep: usize,
  rows: usize,
  inner: usize,
  panels: usize,
  packedRows: usize,
  first: usize,
  width: usize,
  out: usize,
): void {
  const panel = packedRows << 5;
  const tailStride = (width & 7) << 2;
  const tail = panels + (width >> 3) * panel + first * tailStride;
  const q = panels + (first << 5);
  addPanels(d, dRow, dStep, rows, inner, q, 32, panel, tail, tailStride, width, out);
}

/**
 * Eight columns of `q` begin every `panel` bytes, their rows are `qStride` bytes apart; the columns
 * that no eight are left for are at `tail`.
 */
function addPanels(
  d: usize,
  dRow: usize,
  dStep: usize,
  rows: usize,
  inner: usize,
  q: usize,
  qStride: usize,
  panel: usize,
  tail: usize,
  tailStride: usize,
  width: usize,
  out: usize,
): void {
  if (inner == 0) return;
  const stride = width << 2;
  const blocked = rows & ~3;
  const left = width & 7;
  for (let j = width >> 3; j > 0; j--) {
    let o = out;
    let p = d;
    let i: usize = 0;
    for (; i < blocked; i += 4) {
      if (dRow == 4) addByRow(p, dStep, inner, q, qStride, o, stride);
      else addByTerm(p, dRow, inner, q, qStride, o, stride);
      p += dRow << 2;
      o += stride << 2;
    }
    for (; i < rows; i++) {
      addRow(p, dStep, inner, q, qStride, o, 8);
      p += dRow;
      o += stride;
    }
    q += panel;
    out += 32;
  }
  for (let i: usize = 0; left != 0 && i < rows; i++) {
    addRow(d, dStep, inner, tail, tailStride, out, left);
    d += dRow;
    out += stride;
  }
}

/** Four rows by eight columns; the multipliers of one term lie together. */
function addByRow(
  d: usize,
  dStep: usize,
  inner: usize,
  q: usize,
  qStride: usize,
  out: usize,
  stride: usize,
): void {
  const o1 = out + stride;
  const o2 = o1 + stride;
  const o3 = o2 + stride;
  let c00 = v128.load(out);
  let c01 = v128.load(out, 16);
  let c10 = v128.load(o1);
  let c11 = v128.load(o1, 16);
  let c20 = v128.load(o2);
  let c21 = v128.load(o2, 16);
  let c30 = v128.load(o3);
  let c31 = v128.load(o3, 16);
  let a: v128;
  let b: v128;
  let w: v128;
  let k = inner;
  while (true) {
    a = v128.load(q);
    b = v128.load(q, 16);
    w = v128.load32_splat(d);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(d, 4);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(d, 8);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(d, 12);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    if (k == 1) break;
    q += qStride;
    d += dStep;

    a = v128.load(q);
    b = v128.load(q, 16);
    w = v128.load32_splat(d);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(d, 4);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(d, 8);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(d, 12);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    k -= 2;
    if (k == 0) break;
    q += qStride;
    d += dStep;
  }
  v128.store(out, c00);
  v128.store(out, c01, 16);
  v128.store(o1, c10);
  v128.store(o1, c11, 16);
  v128.store(o2, c20);
  v128.store(o2, c21, 16);
  v128.store(o3, c30);
  v128.store(o3, c31, 16);
}

/** Four rows by eight columns; the multipliers of one row lie together. */
function addByTerm(
  d0: usize,
  dRow: usize,
  inner: usize,
  q: usize,
  qStride: usize,
  out: usize,
  stride: usize,
): void {
  const o1 = out + stride;
  const o2 = o1 + stride;
  const o3 = o2 + stride;
  let c00 = v128.load(out);
  let c01 = v128.load(out, 16);
  let c10 = v128.load(o1);
  let c11 = v128.load(o1, 16);
  let c20 = v128.load(o2);
  let c21 = v128.load(o2, 16);
  let c30 = v128.load(o3);
  let c31 = v128.load(o3, 16);
  let d1 = d0 + dRow;
  let d2 = d1 + dRow;
  let d3 = d2 + dRow;
  let a: v128;
  let b: v128;
  let w: v128;
  let k = inner;
  while (true) {
    a = v128.load(q);
    b = v128.load(q, 16);
    w = v128.load32_splat(d0);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(d1);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(d2);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(d3);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    if (k == 1) break;
    q += qStride;

    a = v128.load(q);
    b = v128.load(q, 16);
    w = v128.load32_splat(d0, 4);
    c00 = multiplyAdd(w, a, c00);
    c01 = multiplyAdd(w, b, c01);
    w = v128.load32_splat(d1, 4);
    c10 = multiplyAdd(w, a, c10);
    c11 = multiplyAdd(w, b, c11);
    w = v128.load32_splat(d2, 4);
    c20 = multiplyAdd(w, a, c20);
    c21 = multiplyAdd(w, b, c21);
    w = v128.load32_splat(d3, 4);
    c30 = multiplyAdd(w, a, c30);
    c31 = multiplyAdd(w, b, c31);
    k -= 2;
    if (k == 0) break;
    q += qStride;
    d0 += 8;
    d1 += 8;
    d2 += 8;
    d3 += 8;
  }
  v128.store(out, c00);
  v128.store(out, c01, 16);
  v128.store(o1, c10);
  v128.store(o1, c11, 16);
  v128.store(o2, c20);
  v128.store(o2, c21, 16);
  v128.store(o3, c30);
  v128.store(o3, c31, 16);
}

/** One row of up to eight columns. */
function addRow(
  d: usize,
  dStep: usize,
  inner: usize,
  q: usize,
  qStride: usize,
  out: usize,
  width: usize,
): void {
  const end = d + inner * dStep;
  if (width == 8) {
    let c0 = v128.load(out);
    let c1 = v128.load(out, 16);
    for (let p = d; p < end; p += dStep) {
      const w = v128.load32_splat(p);
      c0 = multiplyAdd(w, v128.load(q), c0);
      c1 = multiplyAdd(w, v128.load(q, 16), c1);
      q += qStride;
    }
    v128.store(out, c0);
    v128.store(out, c1, 16);
    return;
  }
  if (width >= 4) {
    let c = v128.load(out);
    let r = q;
    for (let p = d; p < end; p += dStep) {
      c = multiplyAdd(v128.load32_splat(p), v128.load(r), c);
      r += qStride;
    }
    v128.store(out, c);
    out += 16;
    q += 16;
    width -= 4;
  }
  for (; width > 0; width--) {
    let c = load<f32>(out);
    let r = q;
    for (let p = d; p < end; p += dStep) {
      c += load<f32>(p) * load<f32>(r);
      r += qStride;
    }
    store<f32>(out, c);
    out += 4;
    q += 4;
  }
}

/** `out[j] = scale · Σi d[i][j]` for `rows` rows of `width` floats: a bias's gradient. */
export function sumColumns(d: usize, rows: usize, width: usize, scale: f32, out: usize): void {
  const stride = width << 2;
  let j: usize = 0;
  for (; j + 4 <= width; j += 4) {
    let total = f32x4.splat(0);
    let p = d + (j << 2);
    for (let i: usize = 0; i < rows; i++) {
      total = f32x4.add(total, v128.load(p));
      p += stride;
    }
    v128.store(out + (j << 2), f32x4.mul(total, f32x4.splat(scale)));
  }
  for (; j < width; j++) {
    let total: f32 = 0;
    let p = d + (j << 2);
    for (let i: usize = 0; i < rows; i++) {
      total += load<f32>(p);
      p += stride;
    }
    store<f32>(out + (j << 2), total * scale);
  }
}
