import type { Command, ModelName, RoundReport, Term, Transition } from "../contract.js";
import { globalState, nonZero } from "../common/models.js";
import { sum } from "../common/numbers.js";
import { epochReports } from "../common/run.js";
import { learningRateBetween } from "../learning-rate.js";
import { countRows, epochsTaken } from "../row-queue.js";
import type { Settings } from "./options.js";
import { accumulatorsOf, emptyAccumulator, rowsPending } from "./state.js";
import type { AbsSgdDevice, AbsSgdState } from "./state.js";

/**
 * Asks for `next ← w_t − η_t·(ΣS/Σc + μ·v)`, v being the average before: `w_t − w_{t−1}` is
 * −η_{t−1} of it.
 */
export function startReduction(settings: Settings, state: AbsSgdState): Transition<AbsSgdState> {
  const { devices, trained, queue } = state;
  const total = sum(devices, rowsFrozen);
  const rate = learningRateBetween(settings, trained / queue.rows, (trained + total) / queue.rows);
  const { microBatch, batchReference, learningRateRule } = settings;
  const reference = batchReference ?? microBatch * devices.length;
  const learningRate = learningRateRule === "linear" ? (rate * total) / reference : rate;
  // Before the first update there was no move, and `previous` may hold anything.
  const { rounds } = state;
  const repeat =
    state.learningRate > 0 ? (settings.momentum * learningRate) / state.learningRate : 0;
  const gradients = devices
    .filter((device) => rowsFrozen(device) > 0)
    .map((device): Term => ({
      model: accumulatorsOf(device)[1],
      coefficient: -learningRate / total,
    }));
  const blend: Command = {
    type: "blend",
    id: rounds + 1,
    target: "next",
    terms: [
      { model: "global", coefficient: 1 + repeat },
      ...nonZero([{ model: "previous", coefficient: -repeat }]),
      ...gradients,
    ],
    stateTerms: globalState,
  };
  const reducing = reportOf(state, total, learningRate, settings.microBatch);
  return [{ ...state, reducing }, [blend]];
}

/** `t <- t + 1`, and the reports. */
export function completeReduction(
  settings: Settings,
  state: AbsSgdState,
  report: RoundReport,
): Transition<AbsSgdState> {
  const names: readonly ModelName[] =
    settings.momentum > 0 ? ["previous", "global", "next"] : ["global", "next"];
  const devices = state.devices
    .filter((device) => !device.lost)
    .map((device) => ({ ...device, frozen: null }));
  const pending = devices.flatMap(rowsPending).map(({ epoch }) => epoch);
  const epochsDone = Math.min(epochsTaken(state.queue), ...pending);
  const next: AbsSgdState = {
    ...state,
    devices,
    reducing: null,
    rounds: report.round,
    steps: state.steps + sum(report.devices, ({ updates }) => updates),
    trained: state.trained + report.rows,
    learningRate: report.devices[0]?.learningRate ?? state.learningRate,
    epochsDone,
  };
  const complete: RoundReport = { ...report, epoch: epochsDone };
  return [
    next,
    [
      { type: "rotate", names },
      { type: "report", report: complete },
      ...epochReports(state.epochsDone, epochsDone),
    ],
  ];
}

function reportOf(
  { devices, rounds }: AbsSgdState,
  total: number,
  learningRate: number,
  microBatch: number,
): RoundReport {
  const updates = sum(devices, ({ frozen }) => frozen?.microBatches ?? 0);
  return {
    type: "round",
    round: rounds + 1,
    epoch: 0,
    rows: total,
    devices: devices.map((device) => {
      const { microBatches, at, seconds } = device.frozen ?? emptyAccumulator;
      const rows = rowsFrozen(device);
      const batchRows = Math.min(microBatch, device.maxBatchRows);
      return {
        device: device.id,
        updates: microBatches,
        share: microBatches / updates,
        rows,
        batchRows,
        nextBatchRows: batchRows,
        learningRate,
        weight: rows / total,
        staleness: rows === 0 ? null : rounds - at,
        seconds,
      };
    }),
  };
}

function rowsFrozen({ frozen }: AbsSgdDevice): number {
  return countRows(frozen?.rows ?? []);
}
