import type { DeviceInfo, Policy } from "@heterosgd/scheduler";
import { maxEntriesOfRows, type Dataset } from "@heterosgd/sparse";
import type { BatchLimits } from "../device/api.js";

/** Rows that are evaluated at once at least, though batches may be smaller. */
const EVALUATION_ROWS = 64;

/**
 * Rows that a device's buffers must hold in a run: the policy's largest batch, but no more than
 * there are.
 */
export function bufferRows(
  { maxBatchRows }: Pick<Policy, "maxBatchRows">,
  train: Dataset,
  evaluation: Dataset | null,
): number {
  const evaluated = Math.min(EVALUATION_ROWS, evaluation?.rows ?? 0);
  return Math.max(1, evaluated, Math.min(maxBatchRows, train.rows));
}

/** What a device's buffers must hold in a run: batches of up to `maxBatchRows` rows. */
export function deviceLimits(
  { maxBatchRows }: Pick<DeviceInfo, "maxBatchRows">,
  train: Dataset,
  evaluation: Dataset | null,
): BatchLimits {
  return batchLimits(bufferRows({ maxBatchRows }, train, evaluation), [train, evaluation]);
}

/**
 * What any batch of up to `rows` rows of these data sets can need: batch buffers are taken once,
 * for the worst.
 */
export function batchLimits(rows: number, datasets: readonly (Dataset | null)[]): BatchLimits {
  const most = (offsetsOf: (dataset: Dataset) => Uint32Array) =>
    Math.max(
      1,
      ...datasets.map((dataset) => (dataset ? maxEntriesOfRows(offsetsOf(dataset), rows) : 0)),
    );
  return {
    rows,
    nonZeros: most((dataset) => dataset.features.offsets),
    labels: most((dataset) => dataset.labels.offsets),
  };
}
