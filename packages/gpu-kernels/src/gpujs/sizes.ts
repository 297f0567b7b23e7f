/**
 * How arrays are cut into blocks, each of which is one texture.
 *
 * Kernels compute indices in float32, which is exact up to 2²⁴. No block is longer than 2²², and
 * whatever is indexed lies in one block.
 */

/** Elements of a block at most: 16 MiB. */
export const blockElements = 2 ** 22;
/** Classes or units of a block at most, and rows. Scores of both are a block as well. */
export const blockUnits = 2 ** 13;
export const blockRows = 2 ** 9;
/** Terms of an inner sum; two such loops in one another make `sumElements`. */
export const loopLength = 2 ** 10;
export const sumElements = loopLength ** 2;
/** Classes of a slice. */
export const slice = 64;
/** Non-zeros of the first layer that are uploaded at once. */
export const blockNonZeros = 2 ** 20;

export const ceilDivide = (value: number, by: number): number => Math.ceil(value / by);

/** Rows of a block in which none of these widths makes it too long. */
export function rowsPerBlock(...widths: readonly number[]): number {
  const fitting = Math.floor(blockElements / Math.max(...widths));
  return Math.min(blockRows, 2 ** Math.floor(Math.log2(Math.max(1, fitting))));
}

/** Units of a block of a layer's weights. */
export function unitsPerBlock(inputs: number): number {
  return Math.max(1, Math.min(blockUnits, Math.floor(blockElements / inputs)));
}

/** A part of a whole. */
export interface Part {
  readonly index: number;
  readonly first: number;
  readonly count: number;
}

/** A whole in parts of `size`, the last of what is left. */
export function partsOf(whole: number, size: number): readonly Part[] {
  return Array.from({ length: ceilDivide(whole, size) }, (_, index) => {
    const first = index * size;
    return { index, first, count: Math.min(size, whole - first) };
  });
}

/**
 * Somewhat more than `count`, so that arrays whose lengths change with every batch come in few
 * lengths: WebAssembly is compiled for each, and textures are made for each.
 */
export function roundedUp(count: number): number {
  const power = 2 ** Math.ceil(Math.log2(Math.max(count, 64)));
  return count <= 0.75 * power ? 0.75 * power : power;
}
