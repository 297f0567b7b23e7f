/** Batches of made-up rows, the same for the same arguments, for measuring. */
import type { Batch } from "@heterosgd/model";
import type { Random } from "@heterosgd/sparse";

export interface MadeUpRows {
  readonly rows: number;
  readonly features: number;
  readonly classes: number;
  /** In the mean; a row has from half to one and a half times as many, and one at least. */
  readonly nonZeros: number;
  /**
   * How features are drawn: all alike, the worst case for caches, or log-uniform, where few are
   * frequent, as words are.
   */
  readonly draw: "uniform" | "log-uniform";
}

/** Labels of a row: one to four, all equally often, 2.5 in the mean. */
const MOST_LABELS = 4;

/** A batch; its rows have unit length. @throws RangeError if rows cannot be so long. */
export function madeUpBatch(random: Random, shape: MadeUpRows): Batch {
  const { rows, features, classes, nonZeros, draw } = shape;
  if (nonZeros * 1.5 > features / 2 || classes < MOST_LABELS) {
    throw new RangeError(
      `rows of ${nonZeros} non-zeros need at least ${3 * nonZeros} features and ${MOST_LABELS} classes`,
    );
  }
  const feature =
    draw === "uniform"
      ? () => random.nextBelow(features)
      : () => Math.min(features - 1, Math.floor(features ** random.nextFloat()) - 1);
  const offsets = [0];
  const indices: number[] = [];
  const values: number[] = [];
  const labelOffsets = [0];
  const labels: number[] = [];
  const least = Math.max(1, Math.round(nonZeros / 2));
  for (let row = 0; row < rows; row++) {
    const length = least + random.nextBelow(Math.max(1, 2 * (nonZeros - least) + 1));
    indices.push(...distinct(length, feature));
    const raw = Array.from({ length }, () => 0.1 + random.nextFloat());
    const norm = Math.hypot(...raw);
    values.push(...raw.map((value) => value / norm));
    labels.push(...distinct(1 + random.nextBelow(MOST_LABELS), () => random.nextBelow(classes)));
    offsets.push(indices.length);
    labelOffsets.push(labels.length);
  }
  return {
    rows,
    offsets: Uint32Array.from(offsets),
    indices: Uint32Array.from(indices),
    values: Float32Array.from(values),
    labelOffsets: Uint32Array.from(labelOffsets),
    labels: Uint32Array.from(labels),
  };
}

/** Non-zeros of a batch. */
export function nonZerosOf(batch: Batch): number {
  return batch.offsets[batch.rows]!;
}

/** So many different numbers, ascending. */
export function distinct(count: number, draw: () => number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(draw());
  return [...drawn].toSorted((a, b) => a - b);
}
