/**
 * Where the gradient of the next call goes, kept in globals: each thread has its own instance of
 * the module, and one call at a time.
 */

export const none = 0;
export const add = 1;
const adagrad = 2;

/** `none`, `add`, Adagrad or Adam. */
export let kind: i32 = none;
/** What a gradient is multiplied by before it is handed to `apply`. */
export let scale: f32 = 1;
/** Addresses: the target, and the rule's first and second state array, of each part. */
export let weights: usize = 0;
export let weightsFirst: usize = 0;
export let weightsSecond: usize = 0;
export let bias: usize = 0;
export let biasFirst: usize = 0;
export let biasSecond: usize = 0;

/** Learning rate; Adam's is divided by 1 − beta1^step. */
let rate: f32 = 0;
let epsilon: f32 = 0;
let beta1: f32 = 0;
let rest1: f32 = 0;
let beta2: f32 = 0;
let rest2: f32 = 0;
/** 1 / (1 − beta2^step). */
let correction: f32 = 0;

export function setGradient(
  newKind: i32,
  newScale: f32,
  newWeights: usize,
  newBias: usize,
): void {
  kind = newKind;
  scale = newScale;
  weights = newWeights;
  bias = newBias;
}

export function setState(
  newWeightsFirst: usize,
  newBiasFirst: usize,
  newWeightsSecond: usize,
  newBiasSecond: usize,
): void {
  weightsFirst = newWeightsFirst;
  biasFirst = newBiasFirst;
  weightsSecond = newWeightsSecond;
  biasSecond = newBiasSecond;
}

export function setRule(
  newRate: f32,
  newEpsilon: f32,
  newBeta1: f32,
  newRest1: f32,
  newBeta2: f32,
  newRest2: f32,
  newCorrection: f32,
): void {
  rate = newRate;
  epsilon = newEpsilon;
  beta1 = newBeta1;
  rest1 = newRest1;
  beta2 = newBeta2;
  rest2 = newRest2;
  correction = newCorrection;
}

/** Lets `count` scaled elements of a gradient take effect at a place of the target and its state. */
export function apply(
  target: usize,
  first: usize,
  second: usize,
  values: usize,
  count: usize,
): void {
  const end = target + (count << 2);
  const blockedEnd = target + ((count & ~3) << 2);
  for (; target < blockedEnd; target += 16) {
    const g = v128.load(values);
    const w = v128.load(target);
    if (kind == add) {
      v128.store(target, f32x4.add(w, g));
    } else if (kind == adagrad) {
      const s = squares(v128.load(first), g);
      v128.store(first, s);
      v128.store(target, adagradStep(w, g, s));
    } else {
      const m = moment(beta1, v128.load(first), rest1, g);
      const v = moment(beta2, v128.load(second), rest2, f32x4.mul(g, g));
      v128.store(first, m);
      v128.store(second, v);
      v128.store(target, adamStep(w, m, v));
    }
    values += 16;
    first += 16;
    second += 16;
  }
  for (; target < end; target += 4) {
    const g = v128.load32_zero(values);
    const w = v128.load32_zero(target);
    if (kind == add) {
      v128.store_lane<f32>(target, f32x4.add(w, g), 0);
    } else if (kind == adagrad) {
      const s = squares(v128.load32_zero(first), g);
      v128.store_lane<f32>(first, s, 0);
      v128.store_lane<f32>(target, adagradStep(w, g, s), 0);
    } else {
      const m = moment(beta1, v128.load32_zero(first), rest1, g);
      const v = moment(beta2, v128.load32_zero(second), rest2, f32x4.mul(g, g));
      v128.store_lane<f32>(first, m, 0);
      v128.store_lane<f32>(second, v, 0);
      v128.store_lane<f32>(target, adamStep(w, m, v), 0);
    }
    values += 4;
    first += 4;
    second += 4;
  }
}

// @ts-ignore: decorator
@inline
function squares(sum: v128, g: v128): v128 {
  return f32x4.add(sum, f32x4.mul(g, g));
}

// @ts-ignore: decorator
@inline
function adagradStep(w: v128, g: v128, sum: v128): v128 {
  const divisor = f32x4.add(f32x4.sqrt(sum), f32x4.splat(epsilon));
  return f32x4.sub(w, f32x4.div(f32x4.mul(f32x4.splat(rate), g), divisor));
}

// @ts-ignore: decorator
@inline
function moment(beta: f32, old: v128, rest: f32, g: v128): v128 {
  return f32x4.add(f32x4.mul(f32x4.splat(beta), old), f32x4.mul(f32x4.splat(rest), g));
}

// @ts-ignore: decorator
@inline
function adamStep(w: v128, m: v128, v: v128): v128 {
  const root = f32x4.sqrt(f32x4.mul(v, f32x4.splat(correction)));
  const divisor = f32x4.add(root, f32x4.splat(epsilon));
  return f32x4.sub(w, f32x4.div(f32x4.mul(f32x4.splat(rate), m), divisor));
}
