/**
 * Functions of four floats at once. NaN goes in and comes out, so that a network that diverged
 * shows it in its losses.
 *
 * `f32x4.pmax(a, b)` is `a < b ? b : a`: with the value first, NaN stays NaN; with NaN second, it is
 * passed over.
 */

// @ts-ignore: decorator
@inline
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(f32x4.mul(a, b), c);
}

/**
 * e^x for x up to 88, to 2 units in the last place; e^−87 below. As Cephes' expf (Moshier 1989): x =
 * n·ln 2 + r, with n rounded by adding 1.5·2²³, whose low bits then hold it.
 */
// @ts-ignore: decorator
@inline
export function exp(value: v128): v128 {
  const x = f32x4.pmax(value, f32x4.splat(-87));
  const shifted = multiplyAdd(x, f32x4.splat(1.44269504088896341), f32x4.splat(12582912));
  const n = f32x4.sub(shifted, f32x4.splat(12582912));
  let r = multiplyAdd(n, f32x4.splat(-0.693359375), x);
  r = multiplyAdd(n, f32x4.splat(2.1219444e-4), r);
  let p = f32x4.splat(1.98756915e-4);
  p = multiplyAdd(p, r, f32x4.splat(1.3981999507e-3));
  p = multiplyAdd(p, r, f32x4.splat(8.3334519073e-3));
  p = multiplyAdd(p, r, f32x4.splat(4.1665795894e-2));
  p = multiplyAdd(p, r, f32x4.splat(1.6666665459e-1));
  p = multiplyAdd(p, r, f32x4.splat(5.0000001201e-1));
  p = f32x4.add(multiplyAdd(p, f32x4.mul(r, r), r), f32x4.splat(1));
  return f32x4.mul(p, i32x4.add(i32x4.shl(shifted, 23), i32x4.splat(0x3f800000)));
}

/**
 * log(1 + e) for e from 0 to 1, exact for small e too: 2·atanh(e / (2 + e)), by its power series up
 * to the ninth term.
 */
// @ts-ignore: decorator
@inline
export function log1p(e: v128): v128 {
  const s = f32x4.div(e, f32x4.add(e, f32x4.splat(2)));
  const square = f32x4.mul(s, s);
  let p = f32x4.splat(2.0 / 17.0);
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 15.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 13.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 11.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 9.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 7.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 5.0));
  p = multiplyAdd(p, square, f32x4.splat(2.0 / 3.0));
  p = multiplyAdd(p, square, f32x4.splat(2));
  return f32x4.mul(p, s);
}

/** 1 / (1 + e⁻ᶻ), given e = exp(−|z|): the form that can't overflow. */
// @ts-ignore: decorator
@inline
export function sigmoidFrom(z: v128, e: v128): v128 {
  const one = f32x4.splat(1);
  const isPositive = f32x4.ge(z, f32x4.splat(0));
  return f32x4.div(v128.bitselect(one, e, isPositive), f32x4.add(one, e));
}

// @ts-ignore: decorator
@inline
export function sigmoid(z: v128): v128 {
  return sigmoidFrom(z, exp(f32x4.neg(f32x4.abs(z))));
}

/** By Cephes' polynomial (tanhf, Moshier 1989) where |z| < 0.625, else by e^(−2|z|). */
// @ts-ignore: decorator
@inline
export function tanh(z: v128): v128 {
  const magnitude = f32x4.abs(z);
  const square = f32x4.mul(z, z);
  let p = f32x4.splat(-5.70498872745e-3);
  p = multiplyAdd(p, square, f32x4.splat(2.06390887954e-2));
  p = multiplyAdd(p, square, f32x4.splat(-5.37397155531e-2));
  p = multiplyAdd(p, square, f32x4.splat(1.33314422036e-1));
  p = multiplyAdd(p, square, f32x4.splat(-3.33332819422e-1));
  const near = multiplyAdd(f32x4.mul(p, square), z, z);
  const e = exp(f32x4.mul(magnitude, f32x4.splat(-2)));
  const far = f32x4.div(f32x4.sub(f32x4.splat(1), e), f32x4.add(f32x4.splat(1), e));
  const sign = v128.and(z, f32x4.splat(-0.0));
  return v128.bitselect(near, v128.or(far, sign), f32x4.lt(magnitude, f32x4.splat(0.625)));
}

/** The sum of the four elements. */
// @ts-ignore: decorator
@inline
export function sum(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) +
    f32x4.extract_lane(v, 1) +
    (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
}

/**
 * Natural logarithm of a normal number above 0: of its exponent, and of its mantissa m in [√½, √2)
 * as 2·atanh((m − 1) / (m + 1)). The standard library's would bring tables that lie in memory.
 */
export function log(x: f64): f64 {
  if (!(x > 0 && x < Infinity)) return x == 0 ? -Infinity : x > 0 ? x : NaN;
  const bits = reinterpret<i64>(x);
  // How far x is above √½, in exponents.
  const exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const m = reinterpret<f64>(bits - (exponent << 52));
  const s = (m - 1) / (m + 1);
  const square = s * s;
  let series: f64 = 0;
  for (let n = 21; n > 0; n -= 2) series = series * square + 2.0 / <f64>n;
  return <f64>exponent * 0.6931471805599453 + s * series;
}
