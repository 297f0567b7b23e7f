import type { DeviceId, MergeReport, PolicySetup, RowRange, StopReason } from "../contract.js";
import { boundsFor } from "../batch-size.js";
import { checkedSetup, withDevice } from "../common/devices.js";
import type { CheckedDevice } from "../common/devices.js";
import { sum } from "../common/numbers.js";
import { countRows, createRowQueue } from "../row-queue.js";
import type { RowQueue } from "../row-queue.js";
import type { Settings } from "./options.js";
import { noTimes } from "../step-cost.js";
import type { StepTimes } from "../step-cost.js";

/**
 * What the policy knows of a device. But for its size and speed, all of it counts from the previous merge.
 */
export interface AdaptiveSgdDevice extends CheckedDevice {
  /** b_i, not rounded. */
  readonly batchRows: number;
  /** u_i: batches given to it. */
  readonly updates: number;
  /** Rows given to it, trained or not. All of them come back if it is lost. */
  readonly rows: readonly RowRange[];
  /** How many rows those are. */
  readonly rowCount: number;
  /** Seconds that its latest batch took, null before the first; kept over merges. */
  readonly batchSeconds: number | null;
  /** What its steps took; kept over merges. */
  readonly times: StepTimes;
  /** Batches that it hasn't answered. */
  readonly outstanding: number;
  /** Batches dealt to it in advance, if dispatch is static. */
  readonly share: readonly (readonly RowRange[])[];
  /** η_i at its last step, for a full batch. */
  readonly learningRate: number;
  /** Whether `push` was the last that was asked of it. */
  readonly pushing: boolean;
  /** Pushes that it hasn't answered. */
  readonly pushes: number;
  /** ‖w_i‖₂ as of its last push. */
  readonly norm: number | null;
  /** Lost while merging: its work counts, but it is gone when the merge is done. */
  readonly lost: boolean;
}

/** Where a run of Adaptive SGD stands. */
export type AdaptiveSgdPhase =
  | { readonly name: "training" }
  | { readonly name: "merging"; readonly report: MergeReport }
  | { readonly name: "evaluating" }
  | { readonly name: "saving" }
  | { readonly name: "stopped" };

/** The state of Adaptive SGD, plain JSON. */
export interface AdaptiveSgdState {
  readonly phase: AdaptiveSgdPhase;
  readonly queue: RowQueue;
  /** |w|. */
  readonly parameters: number;
  /** In the order of joining. */
  readonly devices: readonly AdaptiveSgdDevice[];
  /** Devices that take part from the next mega-batch on. */
  readonly joined: readonly CheckedDevice[];
  /** M of this mega-batch, rows. */
  readonly target: number;
  /** Whether this mega-batch belongs to the warm-up. */
  readonly warmingUp: boolean;
  /** Merges done. */
  readonly merges: number;
  /** Updates merged into `global`. */
  readonly steps: number;
  /** Epochs reported as complete. */
  readonly epochsDone: number;
  /** What `merges` was at the latest evaluation, null before the first. */
  readonly evaluated: number | null;
  /** Whether a checkpoint is wanted. */
  readonly saveDue: boolean;
  /** Why the run is being wound up, null while it isn't. */
  readonly finish: StopReason | null;
}

/** The state before the first mega-batch. */
export function initialState(settings: Settings, setup: PolicySetup): AdaptiveSgdState {
  return {
    phase: { name: "training" },
    joined: checkedSetup(setup),
    queue: createRowQueue(setup.rows, settings.epochs),
    parameters: setup.parameters,
    devices: [],
    target: 0,
    warmingUp: false,
    merges: 0,
    steps: 0,
    epochsDone: 0,
    evaluated: null,
    saveDue: false,
    finish: null,
  };
}

/** A device as it enters its first mega-batch. */
export function freshDevice(device: CheckedDevice, batchRows: number): AdaptiveSgdDevice {
  return { ...device, batchRows, batchSeconds: null, times: noTimes, ...idle };
}

/** What a device is between two mega-batches. */
export const idle = {
  updates: 0,
  rows: [],
  rowCount: 0,
  outstanding: 0,
  share: [],
  learningRate: 0,
  pushing: false,
  pushes: 0,
  norm: null,
  lost: false,
} as const;

/** Between two mega-batches: the devices that are left, and nothing asked of anybody. */
export function atRest(state: AdaptiveSgdState): AdaptiveSgdState {
  const left = state.devices.filter((device) => !device.lost);
  return { ...state, devices: left.map((device) => ({ ...device, ...idle })) };
}

/** The state with one device changed. */
export function withChanged(
  state: AdaptiveSgdState,
  id: DeviceId,
  change: Partial<AdaptiveSgdDevice>,
): AdaptiveSgdState {
  return { ...state, devices: withDevice(state.devices, id, change) };
}

/** b_i in this mega-batch, whole rows. */
export function batchRowsOf(
  settings: Settings,
  state: AdaptiveSgdState,
  device: AdaptiveSgdDevice,
): number {
  const { bounds, warmupBatch } = settings;
  if (!state.warmingUp) return Math.round(device.batchRows);
  return Math.min(warmupBatch, boundsFor(bounds, device.maxBatchRows).max);
}

/** Rows given to a device or dealt to it in advance. */
export function rowsOf(device: AdaptiveSgdDevice): readonly RowRange[] {
  return [...device.rows, ...device.share.flat()];
}

/** Rows handed out or dealt since the previous merge. */
export function rowsGiven(state: AdaptiveSgdState): number {
  return sum(state.devices, ({ rowCount, share }) => rowCount + sum(share, countRows));
}
