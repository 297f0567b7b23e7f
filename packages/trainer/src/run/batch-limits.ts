import { maxEntriesOfRows, type Dataset } from "@heterosgd/sparse";
import type { BatchLimits } from "../device/api.js";

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
