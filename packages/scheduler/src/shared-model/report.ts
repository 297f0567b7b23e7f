import type { RoundReport } from "../contract.js";
import { sum } from "../common/numbers.js";
import type { SharedModelState } from "./algorithm.js";

/** What has got into the model since the report before. */
export function roundReport(state: SharedModelState, round: number, epoch: number): RoundReport {
  const devices = [...state.devices, ...state.departed];
  const updates = sum(devices, ({ since }) => since.updates);
  return {
    type: "round",
    round,
    epoch,
    rows: sum(devices, ({ since }) => since.rows),
    devices: devices.map(({ id, since, batchRows, learningRate }) => ({
      device: id,
      updates: since.updates,
      share: updates === 0 ? 0 : since.updates / updates,
      rows: since.rows,
      batchRows: Math.round(batchRows),
      nextBatchRows: Math.round(batchRows),
      learningRate,
      weight: null,
      staleness: since.staleness === null ? null : since.staleness / since.updates,
      seconds: since.seconds,
    })),
  };
}
