/**
 * What happens between two mega-batches: the batch sizes move and the replicas become one model.
 */
import type { Command, MergeReport, ModelName, Term, Transition } from "../contract.js";
import { scaleBatches } from "../batch-size.js";
import type { SizedDevice } from "../batch-size.js";
import { sum } from "../common/numbers.js";
import { epochReports } from "../common/run.js";
import { epochsTaken } from "../row-queue.js";
import type { Settings } from "./options.js";
import { atRest, batchRowsOf, rowsGiven } from "./state.js";
import type { AdaptiveSgdDevice, AdaptiveSgdState } from "./state.js";
import { faded, fixedRows } from "../step-cost.js";

/** Weighs the replicas and asks for `next ← Σ p_i w_i + γ (w̄ − w̄⁻)`. */
export function startMerge(
  settings: Settings,
  state: AdaptiveSgdState,
): Transition<AdaptiveSgdState> {
  const { devices } = state;
  const merge = state.merges + 1;
  const sizes = devices.map((device) => batchRowsOf(settings, state, device));
  const nextSizes = state.warmingUp
    ? devices.map((device) => device.batchRows)
    : scaleBatches(settings.batchScaling, devices.map(sized), settings.bounds);
  const scaled = devices.map((device, i) => ({
    ...device,
    batchRows: nextSizes[i] ?? device.batchRows,
  }));
  const { weights, stateWeights, perturbed } = settings.merge.weigh(
    devices.map(({ updates, norm }, i) => ({ updates, batchRows: sizes[i] ?? 0, norm })),
    state.parameters,
  );
  // At the first merge w̄⁻ is w̄, and `previous` may hold anything.
  const momentum = state.merges === 0 ? 0 : settings.merge.momentum;
  const report: MergeReport = {
    type: "merge",
    merge,
    epoch: epochsTaken(state.queue),
    rows: rowsGiven(state),
    devices: devices.map((device, i) => ({
      device: device.id,
      updates: device.updates,
      rows: device.rowCount,
      batchRows: sizes[i] ?? 0,
      nextBatchRows: Math.round(nextSizes[i] ?? 0),
      learningRate: device.learningRate,
      weight: weights[i] ?? 0,
    })),
    perturbed,
    momentum,
  };
  const blend: Command = {
    type: "blend",
    id: merge,
    target: "next",
    terms: [
      ...replicaTerms(devices, weights),
      ...nonZero([
        { model: "global", coefficient: momentum },
        { model: "previous", coefficient: -momentum },
      ]),
    ],
    stateTerms: replicaTerms(devices, stateWeights),
  };
  return [{ ...state, phase: { name: "merging", report }, devices: scaled }, [blend]];
}

/** `w̄⁻ ← w̄; w̄ ← w'`, and the reports. */
export function completeMerge(
  settings: Settings,
  state: AdaptiveSgdState,
  report: MergeReport,
): Transition<AdaptiveSgdState> {
  const names: readonly ModelName[] =
    settings.merge.momentum > 0 ? ["previous", "global", "next"] : ["global", "next"];
  const epochsDone = epochsTaken(state.queue);
  const commands: Command[] = [
    { type: "rotate", names },
    { type: "report", report },
    ...epochReports(state.epochsDone, epochsDone),
  ];
  const rested = atRest(state);
  const next: AdaptiveSgdState = {
    ...rested,
    devices: rested.devices.map((device) => ({ ...device, times: faded(device.times) })),
    merges: report.merge,
    steps: state.steps + sum(report.devices, (device) => device.updates),
    epochsDone,
  };
  return [next, commands];
}

function sized({ batchRows, updates, maxBatchRows, times }: AdaptiveSgdDevice): SizedDevice {
  return { batchRows, updates, maxBatchRows, fixedRows: fixedRows(times) };
}

function replicaTerms(
  devices: readonly AdaptiveSgdDevice[],
  weights: readonly number[],
): readonly Term[] {
  return nonZero(
    devices.map(({ id }, i) => ({ model: `replica:${id}`, coefficient: weights[i] ?? 0 })),
  );
}

function nonZero(terms: readonly Term[]): readonly Term[] {
  return terms.filter((term) => term.coefficient !== 0);
}
