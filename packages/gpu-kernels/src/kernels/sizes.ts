/** How large the work buffers are: taken by the operations and predicted from the same functions. */

/** Elements of `out` that a group computes, either way, and what its depth is (`matrix.cu`). */
export const tile = 64;
const depth = 16;
/** Classes of a slice (`loss.cu`). */
export const slice = 2048;

/** Bytes of the logits of one block of classes, unless told otherwise. */
export const defaultBlockBytes = 16 * 2 ** 20;
/** Bytes of logits that the softmax keeps between its passes, unless told otherwise. */
export const defaultKeptBytes = 2 ** 30;

export const ceilDivide = (value: number, by: number): number => Math.ceil(value / by);

/** How the classes are cut. */
export interface Blocks {
  /** Classes of a block; the last may have fewer. */
  readonly classes: number;
  readonly count: number;
  /** Slices of a block, and of all. */
  readonly slices: number;
  readonly allSlices: number;
}

export function blocksOf(rows: number, classes: number, blockBytes: number): Blocks {
  const fitting = tile * Math.floor(blockBytes / (4 * rows * tile));
  const own = Math.min(classes, Math.max(tile, fitting));
  const count = ceilDivide(classes, own);
  const slices = ceilDivide(own, slice);
  const last = classes - (count - 1) * own;
  return { classes: own, count, slices, allSlices: (count - 1) * slices + ceilDivide(last, slice) };
}

/** Parts that a product's inner sum is cut into, and elements of each. */
export interface Parts {
  readonly count: number;
  readonly length: number;
}

/** A product of few tiles keeps more groups busy in parts. */
export function partsOf(rows: number, columns: number, inner: number): Parts {
  const tiles = ceilDivide(rows, tile) * ceilDivide(columns, tile);
  const wanted = Math.min(ceilDivide(512, tiles), ceilDivide(inner, 256));
  const length = depth * ceilDivide(ceilDivide(inner, wanted), depth);
  return { count: ceilDivide(inner, length), length };
}

/** Words of 4 bytes of a slot on the device. */
export function slotWords(rows: number, nonZeros: number, labels: number): number {
  return slotOffsets(rows, nonZeros, labels).end;
}

/**
 * Where a batch's arrays lie in its slot, in words. From `features` on it is the non-zeros by
 * feature.
 */
export function slotOffsets(rows: number, nonZeros: number, labels: number) {
  const labelOffsets = rows + 1;
  const ownLabels = labelOffsets + rows + 1;
  const labelRows = ownLabels + labels;
  const indices = labelRows + labels;
  const values = indices + nonZeros;
  const features = values + nonZeros;
  const starts = features + nonZeros;
  const entryRows = starts + nonZeros + 1;
  const entryValues = entryRows + nonZeros;
  return {
    offsets: 0,
    labelOffsets,
    labels: ownLabels,
    labelRows,
    indices,
    values,
    features,
    starts,
    entryRows,
    entryValues,
    end: entryValues + nonZeros,
  };
}

/** From so many on, the best of a slice are found by sorting it. */
export const sortedFrom = 33;

/** Lists of keys, and keys of each, of a row. */
export interface KeyLists {
  readonly count: number;
  readonly length: number;
}

/** What a row's slices are ranked to, and that merged to, step by step: one list in the end. */
export function rankingSteps(k: number, slices: number): readonly KeyLists[] {
  if (k < sortedFrom)
    return [
      { count: slices, length: k },
      { count: 1, length: k },
    ];
  const steps = [{ count: slices, length: Math.min(k, slice) }];
  for (let last = steps[0]!; last.count > 1; last = steps.at(-1)!) {
    const length = Math.min(k, 2 * last.length);
    steps.push({ count: ceilDivide(last.count, 2), length });
  }
  return steps;
}

/** Keys of a row that two buffers hold by turns, before the last step. */
export function rankingKeys(k: number, slices: number): readonly [number, number] {
  const sizes = rankingSteps(k, slices)
    .slice(0, -1)
    .map(({ count, length }) => count * length);
  const most = (turn: number) => Math.max(0, ...sizes.filter((_, i) => i % 2 === turn));
  return [most(0), most(1)];
}

/** Rows that are ranked at once, so that what is best in each slice takes at most `bytes`. */
export function rankedRows(rows: number, k: number, slices: number, bytes: number): number {
  const [first, second] = rankingKeys(k, slices);
  return Math.max(1, Math.min(rows, Math.floor(bytes / (8 * Math.max(1, first + second)))));
}
