import type { ParameterLayout, UpdateRule } from "@heterosgd/model";
import { whole } from "./checks.js";
import { cublasChoice, mostWorkspaceBytes } from "./cuda/cublas.js";
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
    /** Null: plain SGD. */
    readonly optimizer: UpdateRule | null;
    /** Where it is CUDA, cuBLAS's share is added, should it be found. Default: none is. */
    readonly technology?: GpuKernelsOptions["technology"];
    readonly options?: Pick<GpuKernelsOptions, "library" | "cublas" | "blockBytes" | "keptBytes">;
  },
): number {
  const operation = "gpuKernelsBytes";
  const { maxRows, maxNonZeros, maxLabels, technology, options = {} } = limits;
  const { library, cublas, blockBytes = defaultBlockBytes, keptBytes = defaultKeptBytes } = options;
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
  const parts = partsWords(layout, maxRows, blocks);
  const own = slots + scores + sums + perRow + ranking;
  if (technology !== "cuda" || cublasChoice(cublas, library) === false) return 4 * (own + parts);
  // What it is on the device is known when it is open: the larger workspace.
  return mostWorkspaceBytes + 4 * (own + Math.max(parts, gradientWords(layout, blocks, limits)));
}

/** Words of a product by cuBLAS that a rule is then applied to. */
function gradientWords(
  layout: ParameterLayout,
  blocks: Blocks,
  { optimizer }: { readonly optimizer: UpdateRule | null },
): number {
  if (optimizer === null) return 0;
  const words = layout.layers.slice(1).map(({ inputs, outputs }, i, { length }) => {
    const units = i === length - 1 ? blocks.classes : outputs;
    return units * inputs;
  });
  return Math.max(0, ...words);
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
