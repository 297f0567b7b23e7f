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

/** Rows that are ranked at once, so that what is best in each slice takes at most `bytes`. */
export function rankedRows(rows: number, k: number, slices: number, bytes: number): number {
  return Math.max(1, Math.min(rows, Math.floor(bytes / (8 * slices * k))));
}
