import type { UpdateRule } from "../contract.js";
import type { ParameterLayout } from "../../network/layout.js";
import { blockClasses, tileStride } from "./tile.js";

/**
 * The logits that the softmax keeps between its two passes, unless told otherwise: 64 MiB of
 * float32.
 */
export const defaultKeptLogits = 2 ** 24;

/**
 * Predicts the bytes that the plain kernels come to keep in float32 as work buffers of their own,
 * beside a network's. What top-k keeps for each row (4 bytes times k, and 16) is left out.
 */
export function plainKernelsBytes(
  layout: ParameterLayout,
  limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly optimizer: UpdateRule | null;
    readonly keptLogits?: number;
  },
): number {
  const { maxRows, maxNonZeros, optimizer, keptLogits = defaultKeptLogits } = limits;
  const { features, labels, loss } = layout.shape;
  const stride = tileStride(maxRows);
  const keptStride = loss === "softmax" ? largestStride(stride, keptLogits / labels) : 0;
  // A smaller batch's logits may be kept where the largest one's are not.
  const output =
    keptStride === stride ? labels * stride : Math.max(stride * blockClasses, labels * keptStride);
  const topK = stride * blockClasses;
  const [first, ...dense] = layout.layers;
  const outputGradient = blockClasses * dense.at(-1)!.inputs;
  const denseGradient = Math.max(0, ...dense.slice(0, -1).map(({ weights }) => weights.length));
  const floats = output + topK + outputGradient + denseGradient + first!.outputs;
  // Losses, normalisers and label cursors: three float64 and one uint32 a row, twice two of them
  // for top-k.
  const rowBytes = maxRows * (3 * 8 + 4 + 2 * 8);
  const columnOrder = optimizer === null ? 0 : features + 4 * maxNonZeros;
  return 4 * (floats + columnOrder) + rowBytes;
}

/** The largest stride that `tileStride` may give up to both limits, 0 if there is none. */
function largestStride(stride: number, limit: number): number {
  const lines = Math.floor(Math.min(stride, limit) / 16);
  return lines === 0 ? 0 : 16 * (lines % 2 === 0 ? lines - 1 : lines);
}
