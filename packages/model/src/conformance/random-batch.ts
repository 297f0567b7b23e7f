import type { Random } from "@heterosgd/sparse";
import type { Batch } from "../kernels/contract.js";

/** What the rows of a random batch look like, in turn. */
const rowKinds = ["ordinary", "no labels", "no features", "every label", "many features"] as const;

/**
 * A random batch whose rows have few features out of many (so that rows share some), none or many,
 * and one label, several, none or all. Its arrays are longer than needed, and what lies beyond is
 * not a valid batch.
 */
export function randomBatch(
  random: Random,
  rows: number,
  features: number,
  classes: number,
): Batch {
  const offsets = [0];
  const indices: number[] = [];
  const labelOffsets = [0];
  const labels: number[] = [];
  const shift = random.nextBelow(rowKinds.length);
  for (let row = 0; row < rows; row++) {
    const kind = rowKinds[(row + shift) % rowKinds.length];
    const featureCount = kind === "no features" ? 0 : kind === "many features" ? features : 6;
    const labelCount = kind === "no labels" ? 0 : kind === "every label" ? classes : 1 + (row % 3);
    indices.push(...pick(random, features, featureCount));
    labels.push(...pick(random, classes, labelCount));
    offsets.push(indices.length);
    labelOffsets.push(labels.length);
  }
  const beyond = [0xffff_ffff, 0xffff_ffff];
  return {
    rows,
    offsets: Uint32Array.from([...offsets, ...beyond]),
    indices: Uint32Array.from([...indices, ...beyond]),
    values: Float32Array.from([...indices.map(() => 2 * random.nextFloat() - 1), NaN, NaN]),
    labelOffsets: Uint32Array.from([...labelOffsets, ...beyond]),
    labels: Uint32Array.from([...labels, ...beyond]),
  };
}

/** Up to `count` different whole numbers below `bound`, ascending. */
function pick(random: Random, bound: number, count: number): number[] {
  if (count >= bound) return Array.from({ length: bound }, (_, i) => i);
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(random.nextBelow(bound));
  return [...chosen].toSorted((a, b) => a - b);
}
