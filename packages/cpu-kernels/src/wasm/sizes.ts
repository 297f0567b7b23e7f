/**
 * How large the work buffers are: taken by the operations and predicted from the same functions.
 * Bytes, unless a name says otherwise.
 */

/** Classes of a block, as `assembly/output.ts` has it. */
export const blockClasses = 48;
/** Indices behind a batch's last that the kernels read ahead. */
export const indicesAhead = 8;
/** Room in which the radix sort counts. */
export const counterBytes = 2048 * 4;

/** Exponentials that the softmax keeps between its passes, unless told otherwise. */
export const defaultKeptBytes = 256 * 2 ** 20;

/** Lanes that rows take when packed into vectors. */
export const packedLanes = (rows: number): number => Math.ceil(rows / 4) * 4;

/**
 * Elements from one class of a tile to the next: an odd number of cache lines, so that the classes
 * of one row don't all fall into the same few sets of the cache. A few rows' tile is small anyway.
 */
export function tileStride(rows: number): number {
  const lanes = packedLanes(rows);
  if (lanes <= 8) return lanes;
  const lines = Math.ceil(lanes / 16);
  return 16 * (lines % 2 === 0 ? lines + 1 : lines);
}

export const panelBytes = (rows: number, inner: number): number => 4 * packedLanes(rows) * inner;
export const tileBytes = (rows: number, classes: number): number =>
  4 * Math.min(blockClasses, classes) * tileStride(rows);
/** A maximum, a sum, a mask and a float64 for each row. */
export const rowStateBytes = (rows: number): number => 20 * packedLanes(rows);
/** A block's weights or their gradient, or its bias's alone where no rule needs it. */
export const blockBytes = (classes: number, units: number, withWeights = true): number =>
  4 * Math.min(blockClasses, classes) * (withWeights ? units : 1);

const blocksOf = (classes: number): number => Math.ceil(classes / blockClasses);
const keptBlockBytes = (rows: number): number => 4 * blockClasses * tileStride(rows);

/**
 * Blocks of classes whose exponentials are kept, if `bytes` may be. It rounds differently whether
 * they are, so that nothing but the call itself may decide it.
 */
export const keptBlocks = (rows: number, classes: number, bytes: number): number =>
  Math.min(blocksOf(classes), Math.floor(bytes / keptBlockBytes(rows)));

/** Room for what batches of up to so many rows keep. */
export const keptRoom = (rows: number, classes: number, bytes: number): number =>
  Math.min(blocksOf(classes) * keptBlockBytes(rows), bytes);

/** Where dense layers of units that no vector divides evenly are put together. */
export const stagingBytes = (rows: number, units: number): number =>
  units % 4 === 0 ? 0 : 4 * rows * packedLanes(units);
