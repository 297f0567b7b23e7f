import type { Order, SharedModelDevice } from "../shared-model/algorithm.js";
import type { Accelerate } from "./models.js";

/**
 * An accelerator's batch is one update. A host's is split over its threads, an update each; it is
 * sent as many batches at a time as make up `messageRows`, so that batches of a few rows need no
 * message each.
 */
export function orderFor(
  device: SharedModelDevice,
  accelerate: Accelerate,
  messageRows: number,
): Order {
  const { role, threads, maxBatchRows } = device;
  const batchRows = Math.round(device.batchRows);
  if (role === "accelerator") return { way: accelerate, rows: batchRows };
  const batches = Math.max(1, Math.floor(Math.min(messageRows, maxBatchRows) / batchRows));
  return {
    way: "step",
    rows: batches * batchRows,
    microBatchRows: Math.max(1, Math.round(batchRows / threads)),
  };
}
