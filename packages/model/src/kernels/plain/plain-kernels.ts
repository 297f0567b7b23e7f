import type { Kernels } from "../contract.js";

/** An array that the plain kernels work on. */
export type FloatArray = Float32Array | Float64Array;

export interface PlainKernelsOptions<A extends FloatArray> {
  /** Makes a zeroed array. Default: a `Float32Array` over shared memory where there is any. */
  readonly allocate: (length: number) => A;
}

/** The readable reference: every operation in plain TypeScript, in float32 or (for tests) float64. */
export function createPlainKernels(): Kernels;
export function createPlainKernels<A extends FloatArray>(
  options: PlainKernelsOptions<A>,
): Kernels<A>;
export function createPlainKernels<A extends FloatArray>(
  options?: PlainKernelsOptions<A>,
): Kernels<A> {
  void options;
  throw new Error("to be written");
}
