/** Activations and their derivatives, in place. */
import { sigmoid, tanh } from "./simd";

export const relu = 0;
export const logistic = 1;

// @ts-ignore: decorator
@inline
function activated(activation: i32, z: v128): v128 {
  if (activation == relu) return f32x4.pmax(z, f32x4.splat(0));
  return activation == logistic ? sigmoid(z) : tanh(z);
}

/** Applies the activation to `count` elements. */
export function activate(activation: i32, values: usize, count: usize): void {
  const end = values + (count << 2);
  const blockedEnd = values + ((count & ~3) << 2);
  for (; values < blockedEnd; values += 16) {
    v128.store(values, activated(activation, v128.load(values)));
  }
  for (; values < end; values += 4) {
    v128.store_lane<f32>(values, activated(activation, v128.load32_zero(values)), 0);
  }
}

// @ts-ignore: decorator
@inline
function differentiated(activation: i32, y: v128, d: v128): v128 {
  if (activation == relu) return v128.andnot(d, f32x4.le(y, f32x4.splat(0)));
  const one = f32x4.splat(1);
  if (activation == logistic) return f32x4.mul(f32x4.mul(d, y), f32x4.sub(one, y));
  return f32x4.mul(d, f32x4.sub(one, f32x4.mul(y, y)));
}

/** Multiplies `count` derivatives by the activation's own, which follows from its output. */
export function multiplyByDerivative(
  activation: i32,
  outputs: usize,
  derivatives: usize,
  count: usize,
): void {
  const end = derivatives + (count << 2);
  const blockedEnd = derivatives + ((count & ~3) << 2);
  for (; derivatives < blockedEnd; derivatives += 16) {
    const changed = differentiated(activation, v128.load(outputs), v128.load(derivatives));
    v128.store(derivatives, changed);
    outputs += 16;
  }
  for (; derivatives < end; derivatives += 4) {
    const y = v128.load32_zero(outputs);
    const changed = differentiated(activation, y, v128.load32_zero(derivatives));
    v128.store_lane<f32>(derivatives, changed, 0);
    outputs += 4;
  }
}
