/** Products whose vectors run over columns of plain rows, added to what is there. */
import { multiplyAdd } from "./simd";

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
  const blocked = rows & ~3;
  let j: usize = 0;
  for (; j + 8 <= width; j += 8) {
    let o = out + (j << 2);
    let p = d;
    const column = q + (j << 2);
    let i: usize = 0;
    if (dRow == 4) {
      for (; i < blocked; i += 4) {
        addByRow(p, dStep, inner, column, stride, o);
        p += 16;
        o += stride << 2;
      }
    } else {
      for (; i < blocked; i += 4) {
        addByTerm(p, dRow, inner, column, stride, o);
        p += dRow << 2;
        o += stride << 2;
      }
    }
  }
  if (j < width) {
    for (let i: usize = 0; i < blocked; i++) {
      addRow(d + i * dRow, dStep, inner, q + (j << 2), stride, out + i * stride + (j << 2), width - j);
    }
  }
  for (let i = blocked; i < rows; i++) {
    addRow(d + i * dRow, dStep, inner, q, stride, out + i * stride, width);
  }
}

/** Four rows by eight columns; the multipliers of one term lie together. */
function addByRow(
  d: usize,
  dStep: usize,
  inner: usize,
  q: usize,
  stride: usize,
  out: usize,
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
  for (; k >= 2; k -= 2) {
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
    q += stride;
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
    q += stride;
    d += dStep;
  }
  if (k != 0) {
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
  stride: usize,
  out: usize,
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
  for (; k >= 2; k -= 2) {
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
    q += stride;

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
    q += stride;
    d0 += 8;
    d1 += 8;
    d2 += 8;
    d3 += 8;
  }
  if (k != 0) {
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

/** One row of `width` columns: 16, 4 and 1 at a time. */
function addRow(
  d: usize,
  dStep: usize,
  inner: usize,
  q: usize,
  stride: usize,
  out: usize,
  width: usize,
): void {
  let j: usize = 0;
  for (; j + 16 <= width; j += 16) {
    let c0 = v128.load(out);
    let c1 = v128.load(out, 16);
    let c2 = v128.load(out, 32);
    let c3 = v128.load(out, 48);
    let p = d;
    let r = q;
    for (let k: usize = 0; k < inner; k++) {
      const w = v128.load32_splat(p);
      c0 = multiplyAdd(w, v128.load(r), c0);
      c1 = multiplyAdd(w, v128.load(r, 16), c1);
      c2 = multiplyAdd(w, v128.load(r, 32), c2);
      c3 = multiplyAdd(w, v128.load(r, 48), c3);
      p += dStep;
      r += stride;
    }
    v128.store(out, c0);
    v128.store(out, c1, 16);
    v128.store(out, c2, 32);
    v128.store(out, c3, 48);
    out += 64;
    q += 64;
  }
  for (; j + 4 <= width; j += 4) {
    let c = v128.load(out);
    let p = d;
    let r = q;
    for (let k: usize = 0; k < inner; k++) {
      c = multiplyAdd(v128.load32_splat(p), v128.load(r), c);
      p += dStep;
      r += stride;
    }
    v128.store(out, c);
    out += 16;
    q += 16;
  }
  for (; j < width; j++) {
    let c = load<f32>(out);
    let p = d;
    let r = q;
    for (let k: usize = 0; k < inner; k++) {
      c += load<f32>(p) * load<f32>(r);
      p += dStep;
      r += stride;
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

/** `target[i] = scale · source[i]`. */
export function scaleInto(source: usize, count: usize, scale: f32, target: usize): void {
  const factor = f32x4.splat(scale);
  let i: usize = 0;
  for (; i + 4 <= count; i += 4) {
    v128.store(target, f32x4.mul(v128.load(source), factor));
    source += 16;
    target += 16;
  }
  for (; i < count; i++) {
    store<f32>(target, load<f32>(source) * scale);
    source += 4;
    target += 4;
  }
}
