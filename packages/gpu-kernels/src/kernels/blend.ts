import type { BlendTerm } from "@heterosgd/model";
import { fail, finite, requireObject } from "../checks.js";
import type { GpuPointer } from "../driver.js";
import type { Arrays, GpuArray } from "./arrays.js";
import { f32, pointer, u32, type Launcher } from "./launch.js";

/** Terms of one launch (`blend.cu`). */
const launchTerms = 4;

interface Term {
  readonly coefficient: number;
  readonly source: GpuPointer;
}

export function createBlend(arrays: Arrays, launcher: Launcher) {
  return (target: GpuArray, terms: readonly BlendTerm<GpuArray>[]): void => {
    const own = arrays.place("blend", "target", target, 0);
    const ordered = order(arrays, target, own, terms);
    const { length } = target;
    for (let first = 0; first === 0 || first < ordered.length; first += launchTerms) {
      const some = ordered.slice(first, first + launchTerms);
      const padded = Array.from(
        { length: launchTerms },
        (_, i) => some[i] ?? { coefficient: 0, source: own },
      );
      launcher.overElements("blend", length, [
        pointer(own),
        u32(length),
        u32(first === 0 ? 0 : 1),
        u32(some.length),
        ...padded.flatMap(({ coefficient, source }) => [f32(coefficient), pointer(source)]),
      ]);
    }
  };
}

/**
 * The terms, of which those that are the target itself are one and come first: later launches no
 * longer find what it was.
 */
function order(
  arrays: Arrays,
  target: GpuArray,
  own: GpuPointer,
  terms: readonly BlendTerm<GpuArray>[],
): readonly Term[] {
  requireObject("blend", "terms", terms);
  const others: Term[] = [];
  let ofTarget: number | undefined;
  for (const term of terms) {
    requireObject("blend", "a term", term);
    const coefficient = finite("blend", "coefficient", term.coefficient);
    const source = arrays.place("blend", "source", term.source, 0);
    if (term.source.length !== target.length) {
      const lengths = `${term.source.length} elements, expected ${target.length}`;
      fail("KERNEL_ARRAY", "blend", `source has ${lengths}`);
    }
    const distance = Math.abs(source.offset - own.offset);
    if (source.buffer !== own.buffer || distance >= target.length) {
      others.push({ coefficient, source });
    } else if (distance === 0) {
      ofTarget = (ofTarget ?? 0) + coefficient;
    } else {
      fail("KERNEL_ARRAY", "blend", `source overlaps target, ${distance} elements apart`);
    }
  }
  return ofTarget === undefined ? others : [{ coefficient: ofTarget, source: own }, ...others];
}
