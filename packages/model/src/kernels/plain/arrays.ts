/**
 * An array that the plain kernels work on: float32, or float64 as the reference that others are
 * checked against.
 */
export type FloatArray = Float32Array | Float64Array;

/** Zeroed float32 elements in shared memory, or in ordinary memory where a browser shares none. */
export function sharedFloat32(length: number): Float32Array {
  if (typeof SharedArrayBuffer === "undefined") return new Float32Array(length);
  return new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
}

/** A buffer that is made on first use, grows to the largest length asked for, and is kept. */
export function reusable<T extends { readonly length: number }>(
  make: (length: number) => T,
): (length: number) => T {
  let held = make(0);
  return (length) => {
    if (held.length < length) held = make(length);
    return held;
  };
}

/** What `reusable` makes for working in float64, and for indices. */
export const makeFloat64 = (length: number): Float64Array => new Float64Array(length);
export const makeUint32 = (length: number): Uint32Array => new Uint32Array(length);

/** `target[start + j] += coefficient · source[sourceStart + j]` for `length` elements. */
export function addScaledRow(
  target: FloatArray,
  start: number,
  coefficient: number,
  source: FloatArray,
  sourceStart: number,
  length: number,
): void {
  for (let j = 0; j < length; j++) {
    target[start + j] = target[start + j]! + coefficient * source[sourceStart + j]!;
  }
}
