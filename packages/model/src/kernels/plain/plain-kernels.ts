import type { Batch, Kernels } from "../contract.js";
import { sharedFloat32, type FloatArray } from "./arrays.js";
import { createBlend } from "./blend.js";
import { createDenseBackward } from "./dense-backward.js";
import { dense } from "./dense.js";
import { gather } from "./gather.js";
import { defaultKeptLogits } from "./memory.js";
import { createOutput } from "./output.js";
import { createScatter } from "./scatter.js";
import { createTopKKernel } from "./top-k.js";

export interface PlainKernelsOptions<A extends FloatArray = Float32Array> {
  /** Makes a zeroed array. Default: a `Float32Array` in shared memory where there is any. */
  readonly allocate: (length: number) => A;
  /**
   * Logits of a batch that the softmax may keep between its two passes, in elements. A batch with
   * more has them computed twice, which costs a third more time. Default 2²⁴ (64 MiB).
   */
  readonly keptLogits?: number;
}

/**
 * The readable reference: every operation in plain TypeScript, in float32 (sums run in float64) or
 * in float64 throughout, which is what other kernels are checked against.
 *
 * Batches are used where they lie. Work buffers are made at first use, grow with the largest batch,
 * and are kept. Sums run in a fixed order, so that equal calls give equal results to the last bit.
 */
export function createPlainKernels(options?: Partial<PlainKernelsOptions>): Kernels;
export function createPlainKernels<A extends FloatArray>(
  options: PlainKernelsOptions<A>,
): Kernels<A>;
export function createPlainKernels(
  options: Partial<PlainKernelsOptions<FloatArray>> = {},
): Kernels<FloatArray> {
  const { allocate = sharedFloat32, keptLogits = defaultKeptLogits } = options;
  return {
    name: "plain",
    sharesMemory: true,
    allocate,
    view(array, start, length) {
      if (start + length > array.length) {
        throw new RangeError(
          `A view of ${start} to ${start + length} leaves the ${array.length} elements.`,
        );
      }
      return array.subarray(start, start + length);
    },
    write(source, target) {
      checkEqualLengths(source, target);
      target.set(source);
    },
    read(source, target) {
      checkEqualLengths(source, target);
      target.set(source);
    },
    upload(batch: Batch) {
      if (batch.rows >= 1) return batch;
      throw new RangeError(`A batch has ${batch.rows} rows, expected at least 1.`);
    },
    gather,
    dense,
    output: createOutput(allocate, keptLogits),
    denseBackward: createDenseBackward(allocate),
    scatter: createScatter(allocate),
    topK: createTopKKernel(allocate),
    blend: createBlend(),
    dispose: () => undefined,
  };
}

function checkEqualLengths(source: FloatArray, target: FloatArray): void {
  if (source.length !== target.length) {
    throw new RangeError(`${source.length} elements can't be copied into ${target.length}.`);
  }
}
