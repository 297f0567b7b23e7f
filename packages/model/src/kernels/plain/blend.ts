import type { BlendTerm } from "../contract.js";
import type { FloatArray } from "./arrays.js";

const blockLength = 1024;

/** Makes `Kernels.blend`: one pass over memory whatever the number of terms, summed in float64. */
export function createBlend<A extends FloatArray>() {
  const sums = new Float64Array(blockLength);

  return (target: A, terms: readonly BlendTerm<A>[]): void => {
    for (const { source } of terms) {
      if (source.length !== target.length) {
        throw new RangeError(
          `A source of ${source.length} elements can't be blended into ${target.length}.`,
        );
      }
    }
    for (let start = 0; start < target.length; start += blockLength) {
      const count = Math.min(blockLength, target.length - start);
      sums.fill(0);
      for (const { coefficient, source } of terms) {
        for (let i = 0; i < count; i++) sums[i] = sums[i]! + coefficient * source[start + i]!;
      }
      for (let i = 0; i < count; i++) target[start + i] = sums[i]!;
    }
  };
}
