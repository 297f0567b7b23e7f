import type { ParameterLayout, UpdateRule } from "@heterosgd/model";
import { whole } from "./checks.js";
import type { GpuKernelsOptions } from "./gpu-kernels.js";
import { sortWords } from "./kernels/non-zeros-by-feature.js";
import {
  blocksOf,
  defaultBlockBytes,
  defaultKeptBytes,
  partsOf,
  rankedRows,
  rankingKeys,
  slotWords,
  type Blocks,
} from "./kernels/sizes.js";

/** Classes a row that rankings are counted with. */
const ranked = 10;

/**
 * Bytes that such kernels come to keep on the device for their own work (two batches, logits, parts
 * of products): what they hold after steps of every size up to the largest and rankings of ten classes
 * a row, give or take a few percent. Parameters, gradients, optimisers' state and activations are not counted, which
 * whoever uses the kernels takes by `allocate`.
 *
 * @throws GpuKernelsError KERNEL_ARGUMENT
 */
export function gpuKernelsBytes(
  layout: ParameterLayout,
  limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly maxLabels: number;
    /** Rules need no more than plain SGD. */
    readonly optimizer: UpdateRule | null;
    readonly options?: Pick<GpuKernelsOptions, "blockBytes" | "keptBytes">;
  },
): number {
  const operation = "gpuKernelsBytes";
  const { maxRows, maxNonZeros, maxLabels, options = {} } = limits;
  const { blockBytes = defaultBlockBytes, keptBytes = defaultKeptBytes } = options;
  whole(operation, "maxRows", maxRows, 1);
  whole(operation, "maxNonZeros", maxNonZeros, 0);
  whole(operation, "maxLabels", maxLabels, 0);
  const { labels } = layout.shape;
  const blocks = blocksOf(maxRows, labels, blockBytes);
  const k = Math.min(ranked, labels);
  const rows = rankedRows(maxRows, k, blocks.allSlices, blockBytes);

  const slots = 2 * slotWords(maxRows, maxNonZeros, maxLabels);
  // Where the logits of the largest batch can't be kept, those of a smaller one may be.
  const kept = Math.min(maxRows * labels, Math.floor(keptBytes / 4));
  const scores = Math.max(maxRows * blocks.classes, kept);
  const sums = 2 * maxRows * blocks.allSlices;
  const perRow = 2 * maxRows + Math.max(1, maxLabels);
  const keys = rankingKeys(k, blocks.allSlices).reduce((sum, each) => sum + each);
  const ranking = 2 * rows * keys + 2 * rows * k + rows;
  return 4 * (slots + scores + sums + perRow + ranking + partsWords(layout, maxRows, blocks));
}

/**
 * Bytes of the process's memory that such kernels come to keep: copies of two batches and room to sort one.
 * What the driver takes for itself, and what they take of any driver (5 MiB), is not counted.
 *
 * @throws GpuKernelsError KERNEL_ARGUMENT
 */
export function gpuKernelsHostBytes(limits: {
  readonly maxRows: number;
  readonly maxNonZeros: number;
  readonly maxLabels: number;
}): number {
  const operation = "gpuKernelsHostBytes";
  const { maxRows, maxNonZeros, maxLabels } = limits;
  whole(operation, "maxRows", maxRows, 1);
  whole(operation, "maxNonZeros", maxNonZeros, 0);
  whole(operation, "maxLabels", maxLabels, 0);
  return 4 * (2 * slotWords(maxRows, maxNonZeros, maxLabels) + sortWords(maxNonZeros));
}

/** Words of the products that are made in parts. */
function partsWords(layout: ParameterLayout, maxRows: number, blocks: Blocks): number {
  const words = layout.layers.slice(1).map(({ inputs, outputs }, i, { length }) => {
    const isOutput = i === length - 1;
    const units = isOutput ? blocks.classes : outputs;
    const back = partsOf(maxRows, inputs, units).count;
    const update = partsOf(units, inputs, maxRows).count;
    return Math.max(
      back > 1 || (isOutput && blocks.count > 1) ? back * maxRows * inputs : 0,
      update > 1 ? update * units * inputs : 0,
    );
  });
  return Math.max(0, ...words);
}
