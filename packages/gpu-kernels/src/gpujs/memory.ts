import { optimizerStateArrays, type ParameterLayout } from "@heterosgd/model";
import { whole } from "../checks.js";
import { sortWords } from "../kernels/non-zeros-by-feature.js";
import type { GpujsLimits } from "./api.js";
import {
  blockUnits,
  ceilDivide,
  partsOf,
  roundedUp,
  rowsPerBlock,
  slice,
  unitsPerBlock,
} from "./sizes.js";

/** Bytes of scores that the softmax keeps between its passes, unless told otherwise. */
export const defaultKeptBytes = 2 ** 28;

/**
 * Bytes that these kernels come to take beyond what `allocate` does, in textures and in host memory:
 * a renderer in software has both in the same memory. Each array that a step trains is counted twice but for the
 * first layer's weights, for one replica and its optimiser's state, and so are activations; then come batches,
 * scores, parts of the gradient, and the last result of each kernel, which gpu.js keeps.
 *
 * @throws GpuKernelsError KERNEL_ARGUMENT
 */
export function gpujsKernelsBytes(layout: ParameterLayout, limits: GpujsLimits): number {
  const operation = "gpujsKernelsBytes";
  const { maxRows, maxNonZeros, maxLabels, optimizer } = limits;
  whole(operation, "maxRows", maxRows, 1);
  whole(operation, "maxNonZeros", maxNonZeros, 0);
  whole(operation, "maxLabels", maxLabels, 0);
  const { features, hidden, labels } = layout.shape;
  const units = hidden[0]!;
  const width = hidden.at(-1)!;
  const states = optimizerStateArrays(optimizer);

  const dense = layout.layers
    .slice(1)
    .reduce((sum, { weights, bias }) => sum + weights.length + bias.length, units);
  const activations = 2 * maxRows * hidden.reduce((sum, size) => sum + size, 0) + maxRows;

  const touched = roundedUp(Math.min(maxNonZeros, features)) * units;
  const entries = roundedUp(maxRows + 1) + 2 * roundedUp(maxNonZeros);

  const rows = Math.min(maxRows, rowsPerBlock(width, blockUnits));
  const classes = Math.min(labels, unitsPerBlock(width));
  const blocks = ceilDivide(labels, classes);
  const tile = rows * classes;
  const all = maxRows * labels;
  const kept = 4 * all <= defaultKeptBytes ? all : tile;
  const derivatives = maxRows * classes;
  const maxima = 2 * rows * ceilDivide(classes, slice);
  const marks = partsOf(maxRows, rows).reduce(
    (sum, { count }) => sum + blocks * roundedUp(2 * count + 1),
    2 * maxLabels,
  );
  // Blocks of weights: zeros, products, and what each kernel of the rule leaves.
  const weights = Math.max(
    ...layout.layers
      .slice(1)
      .map(({ inputs, outputs }) => inputs * Math.min(outputs, unitsPerBlock(inputs))),
  );
  const gradient = (3 + 2 * (1 + states)) * weights;

  const textures =
    (1 + states) * dense +
    activations +
    4 * touched +
    2 * entries +
    kept +
    derivatives +
    2 * tile +
    maxima +
    marks +
    gradient;
  const slots = 2 * (4 * maxNonZeros + 2 * maxRows + maxLabels) + sortWords(maxNonZeros);
  // What is uploaded and read passes through host memory.
  const host = slots + 2 * touched + 2 * entries + 2 * tile;
  return 4 * (textures + host);
}
