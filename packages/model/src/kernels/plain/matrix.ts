/**
 * The two dense products that all layers are made of. Sums run in float64 (the only arithmetic
 * JavaScript has); a tile of four by two or four by four elements at a time, so that each number
 * loaded is used several times.
 */
import { addScaledRow, type FloatArray } from "./arrays.js";

/**
 * `out[m·rowStride + n·columnStride] = bias[first + n] + Σk x[m·inner + k] · w[(first + n)·inner +
 * k]` for `rows` rows m of `x` and `columns` rows n of `w`, from row `first` of `w` and `outStart`
 * of `out` on.
 *
 * The strides let one routine fill both row-major activations and class-major tiles.
 */
export function multiplyByRows(
  x: FloatArray,
  rows: number,
  w: FloatArray,
  bias: FloatArray,
  first: number,
  columns: number,
  inner: number,
  out: FloatArray,
  outStart: number,
  rowStride: number,
  columnStride: number,
): void {
  const lastRow = rows - 1;
  const lastColumn = columns - 1;
  for (let m = 0; m < rows; m += 2) {
    const x0 = m * inner;
    // At an edge a tile repeats its last row or column: it computes and writes the same element
    // again.
    const m1 = m < lastRow ? m + 1 : m;
    const x1 = m1 * inner;
    for (let n = 0; n < columns; n += 4) {
      const n1 = Math.min(n + 1, lastColumn);
      const n2 = Math.min(n + 2, lastColumn);
      const n3 = Math.min(n + 3, lastColumn);
      const w0 = (first + n) * inner;
      const w1 = (first + n1) * inner;
      const w2 = (first + n2) * inner;
      const w3 = (first + n3) * inner;
      let s00 = bias[first + n]!;
      let s01 = bias[first + n1]!;
      let s02 = bias[first + n2]!;
      let s03 = bias[first + n3]!;
      let s10 = s00;
      let s11 = s01;
      let s12 = s02;
      let s13 = s03;
      for (let k = 0; k < inner; k++) {
        const a0 = x[x0 + k]!;
        const a1 = x[x1 + k]!;
        const b0 = w[w0 + k]!;
        const b1 = w[w1 + k]!;
        const b2 = w[w2 + k]!;
        const b3 = w[w3 + k]!;
        s00 += a0 * b0;
        s01 += a0 * b1;
        s02 += a0 * b2;
        s03 += a0 * b3;
        s10 += a1 * b0;
        s11 += a1 * b1;
        s12 += a1 * b2;
        s13 += a1 * b3;
      }
      const o0 = outStart + m * rowStride;
      const o1 = outStart + m1 * rowStride;
      out[o0 + n * columnStride] = s00;
      out[o0 + n1 * columnStride] = s01;
      out[o0 + n2 * columnStride] = s02;
      out[o0 + n3 * columnStride] = s03;
      out[o1 + n * columnStride] = s10;
      out[o1 + n1 * columnStride] = s11;
      out[o1 + n2 * columnStride] = s12;
      out[o1 + n3 * columnStride] = s13;
    }
  }
}

/**
 * `out[m·width + j] += Σk p[pStart + m·pRowStride + k·pStride] · q[qStart + k·width + j]`
 * for `rows` rows m, `inner` terms k and `width` columns j.
 */
export function addProduct(
  p: FloatArray,
  pStart: number,
  pRowStride: number,
  pStride: number,
  rows: number,
  inner: number,
  q: FloatArray,
  qStart: number,
  width: number,
  out: FloatArray,
): void {
  const blocked = rows - (rows % 4);
  const blockedInner = inner - (inner % 4);
  addTiles(p, pStart, pRowStride, pStride, blocked, blockedInner, q, qStart, width, out);
  // What the four-by-four tiles leave over: the last terms of their rows, and all terms of the last
  // rows. By a function of its own, since most calls leave nothing over: compiled into one with the
  // tiles before it had ever run, it would make the engine throw both away each time it does.
  if (blockedInner < inner) {
    addRows(p, pStart, pRowStride, pStride, 0, blocked, blockedInner, inner, q, qStart, width, out);
  }
  if (blocked < rows) {
    addRows(p, pStart, pRowStride, pStride, blocked, rows, 0, inner, q, qStart, width, out);
  }
}

/** `addProduct` for rows and terms in multiples of four. */
function addTiles(
  p: FloatArray,
  pStart: number,
  pRowStride: number,
  pStride: number,
  rows: number,
  inner: number,
  q: FloatArray,
  qStart: number,
  width: number,
  out: FloatArray,
): void {
  for (let m = 0; m < rows; m += 4) {
    const o0 = m * width;
    const o1 = o0 + width;
    const o2 = o1 + width;
    const o3 = o2 + width;
    for (let k = 0; k < inner; k += 4) {
      const a = pStart + m * pRowStride + k * pStride;
      const b = a + pRowStride;
      const c = b + pRowStride;
      const d = c + pRowStride;
      const stride2 = 2 * pStride;
      const stride3 = 3 * pStride;
      const a0 = p[a]!;
      const a1 = p[a + pStride]!;
      const a2 = p[a + stride2]!;
      const a3 = p[a + stride3]!;
      const b0 = p[b]!;
      const b1 = p[b + pStride]!;
      const b2 = p[b + stride2]!;
      const b3 = p[b + stride3]!;
      const c0 = p[c]!;
      const c1 = p[c + pStride]!;
      const c2 = p[c + stride2]!;
      const c3 = p[c + stride3]!;
      const d0 = p[d]!;
      const d1 = p[d + pStride]!;
      const d2 = p[d + stride2]!;
      const d3 = p[d + stride3]!;
      const q0 = qStart + k * width;
      const q1 = q0 + width;
      const q2 = q1 + width;
      const q3 = q2 + width;
      for (let j = 0; j < width; j++) {
        const x0 = q[q0 + j]!;
        const x1 = q[q1 + j]!;
        const x2 = q[q2 + j]!;
        const x3 = q[q3 + j]!;
        out[o0 + j] = out[o0 + j]! + a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3;
        out[o1 + j] = out[o1 + j]! + b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3;
        out[o2 + j] = out[o2 + j]! + c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3;
        out[o3 + j] = out[o3 + j]! + d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3;
      }
    }
  }
}

/** `addProduct` for rows `firstRow … endRow − 1` and terms `first … end − 1`, one by one. */
function addRows(
  p: FloatArray,
  pStart: number,
  pRowStride: number,
  pStride: number,
  firstRow: number,
  endRow: number,
  first: number,
  end: number,
  q: FloatArray,
  qStart: number,
  width: number,
  out: FloatArray,
): void {
  for (let m = firstRow; m < endRow; m++) {
    for (let k = first; k < end; k++) {
      const coefficient = p[pStart + m * pRowStride + k * pStride]!;
      addScaledRow(out, m * width, coefficient, q, qStart + k * width, width);
    }
  }
}

/** `out[m] = Σk p[pStart + m·pRowStride + k·pStride]`: a bias's gradient. */
export function sumRows(
  p: FloatArray,
  pStart: number,
  pRowStride: number,
  pStride: number,
  rows: number,
  inner: number,
  out: FloatArray,
): void {
  for (let m = 0; m < rows; m++) {
    let sum = 0;
    const start = pStart + m * pRowStride;
    for (let k = 0; k < inner; k++) sum += p[start + k * pStride]!;
    out[m] = sum;
  }
}
