import type { BlendCommand, DeviceInfo, ModelName, RoundReport, RowRange } from "../contract.js";
import type { CheckedDevice } from "../common/devices.js";
import type { Run, RunSettings } from "../common/run.js";

/** What there is to know of a device in a round. */
export interface RoundDevice extends CheckedDevice {
  /** b_i, whole rows. */
  readonly batchRows: number;
  /** Predicted seconds a row, null before anything was measured; for algorithms that use it. */
  readonly pace: number | null;
  /** Whether it has never pulled. */
  readonly fresh: boolean;
  /** Whether it has pulled in this round. */
  readonly pulled: boolean;
  /** Batches dealt to it that it hasn't been given. */
  readonly share: readonly (readonly RowRange[])[];
  /** Rows given to it in this round. All of them come back if it is lost before the merge. */
  readonly rows: readonly RowRange[];
  /** Batches given to it in this round. */
  readonly updates: number;
  /** Batches that it hasn't answered. */
  readonly outstanding: number;
  /** Seconds that it was busy in this round. */
  readonly seconds: number;
  /** Whether it has been asked to push. */
  readonly pushing: boolean;
  /** Pushes that it hasn't answered. */
  readonly pushes: number;
  /** η at its last batch. */
  readonly learningRate: number;
  /** Lost while merging: its work counts, but it is gone when the merge is done. */
  readonly lost: boolean;
}

/** A blend before it has a number. */
export type Blend = Pick<BlendCommand, "target" | "terms" | "stateTerms">;

/** What a round's merge is worked out from. */
export interface RoundResult {
  readonly devices: readonly RoundDevice[];
  /** η_t, of the round's first turn. */
  readonly learningRate: number;
  /** Rows of a full turn of all devices. */
  readonly fullRows: number;
  /** Whether all replicas started from the global model in this round. */
  readonly restarted: boolean;
}

export interface RoundMerge {
  /**
   * Blends that make `next` and whatever else there is; those of a stage may run in any order, and
   * start when the stage before is complete.
   */
  readonly stages: readonly (readonly Blend[])[];
  /** Of each device, for the report. */
  readonly weights: readonly (number | null)[];
}

/**
 * An algorithm in which all devices work on batches dealt in advance, then meet. `roundPolicy`
 * makes a policy of it.
 */
export interface RoundAlgorithm {
  readonly name: string;
  readonly settings: RunSettings;
  /** b, for which the schedule is meant: a shorter batch's rate is less by as much. */
  readonly batchRows: number;
  readonly maxBatchRows: number;
  models(devices: readonly DeviceInfo[]): readonly ModelName[];
  /** What a device's batch changes: its replica (steps), or its accumulator (gradients). */
  readonly work: "replica" | "gradient";
  /** Whether replicas live on from round to round. If not, each round starts with a pull. */
  readonly keepsReplicas: boolean;
  /** Batches a device in a round, of `rows` an epoch. */
  turns(rows: number, devices: number): number;
  /** Batch sizes for the next round; without it they stay. */
  resize?(devices: readonly RoundDevice[]): readonly number[];
  /** A device's pace after a round. */
  pace?(device: RoundDevice): number | null;
  /** Whether replicas that live on start again from the global model at this change of η. */
  restarts?(learningRate: number, before: number): boolean;
  merge(result: RoundResult): RoundMerge;
  /** What is rotated when the merge is done, so that `global` is what `next` was. */
  readonly rotation: readonly ModelName[];
  /** Whether the last round's work is in the global model only after one more merge. */
  readonly lags?: boolean;
}

/** The state of an algorithm of rounds, plain JSON. */
export interface RoundState extends Run {
  /** In the order of joining. */
  readonly devices: readonly RoundDevice[];
  /** Devices that take part from the next round on. */
  readonly joined: readonly CheckedDevice[];
  /** η_t of this round. */
  readonly learningRate: number;
  readonly fullRows: number;
  readonly restarted: boolean;
  /** Stages of the merge that are still to come. */
  readonly stages: readonly (readonly Blend[])[];
  /** Blends that haven't been answered. */
  readonly blending: readonly number[];
  /** Blends asked for so far. */
  readonly blends: number;
  /** What is reported when the merge is done. */
  readonly report: RoundReport | null;
  /** Whether no work is outside the global model. */
  readonly drained: boolean;
}
