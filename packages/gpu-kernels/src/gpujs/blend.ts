import type { BlendTerm } from "@heterosgd/model";
import { fail, finite, requireObject } from "../checks.js";
import type { GpujsArray } from "./api.js";
import type { Arrays } from "./arrays.js";

const blockLength = 1024;

/**
 * Blends in host memory, where sums run in float64, so that it gives the same bits whichever parts of the arrays lie
 * on the device.
 */
export function createBlend(arrays: Arrays) {
  const sums = new Float64Array(blockLength);

  return (target: GpujsArray, terms: readonly BlendTerm<GpujsArray>[]): void => {
    const own = arrays.place("blend", "target", target, 0);
    requireObject("blend", "terms", terms);
    const places = terms.map((term) => {
      requireObject("blend", "a term", term);
      const coefficient = finite("blend", "coefficient", term.coefficient);
      const place = arrays.place("blend", "source", term.source, 0);
      if (place.length !== own.length) {
        const message = `source has ${place.length} elements, expected ${own.length}`;
        fail("KERNEL_ARRAY", "blend", message);
      }
      const apart = Math.abs(place.start - own.start);
      if (place.storage === own.storage && apart > 0 && apart < own.length) {
        fail("KERNEL_ARRAY", "blend", `source overlaps target, ${apart} elements apart`);
      }
      return { coefficient, place };
    });

    if (places.length === 0) {
      arrays.replaceOnHost(own).fill(0);
      return;
    }
    const sources = places.map(({ coefficient, place }) => ({
      coefficient,
      values: arrays.onHost(place),
    }));
    const values = arrays.changeOnHost(own);
    for (let start = 0; start < values.length; start += blockLength) {
      const count = Math.min(blockLength, values.length - start);
      sums.fill(0);
      for (const { coefficient, values: source } of sources) {
        for (let i = 0; i < count; i++) sums[i] = sums[i]! + coefficient * source[start + i]!;
      }
      for (let i = 0; i < count; i++) values[start + i] = sums[i]!;
    }
  };
}
