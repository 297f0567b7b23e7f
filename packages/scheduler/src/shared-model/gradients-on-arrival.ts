import { replicasAndGradientsOf } from "../common/models.js";
import type { RunSettings } from "../common/run.js";
import type { SharedModelAlgorithm } from "./algorithm.js";

/** Equal batches whose gradients are added as they come: ASP, and SSP with a bound on top. */
export function gradientsOnArrival(
  name: string,
  settings: RunSettings,
  batchRows: number,
  roundRows: number | null,
): SharedModelAlgorithm {
  return {
    name,
    settings,
    maxBatchRows: batchRows,
    roundRows,
    models: (devices) => ["global", ...replicasAndGradientsOf(devices)],
    queueDepth: 1,
    epochBarrier: false,
    batchRows: ({ maxBatchRows }) => Math.min(batchRows, maxBatchRows),
    order: (device) => ({ way: "add", rows: device.batchRows, meanOver: batchRows }),
  };
}
