import type { DeviceInfo, ModelName, RowRange } from "../contract.js";
import type { CheckedDevice } from "../common/devices.js";
import type { Run, RunSettings } from "../common/run.js";

/**
 * How a device's work gets into the shared model.
 *
 * - `step`: it updates the shared model itself, without locks, while others do so too.
 * - `add`: it copies the model, computes a gradient there, and adds it to what the model is then.
 * - `overwrite`: it copies the model, steps on the copy, and puts it in the model's place.
 */
export type Way = "step" | "add" | "overwrite";

/** What a device gets when it asks for work. */
export interface Order {
  readonly way: Way;
  readonly rows: number;
  /** Of a `step`: rows of an update. */
  readonly microBatchRows?: number;
  /** Of an `add`: by how many rows the gradient's sum is divided. Default: its own. */
  readonly meanOver?: number;
}

/** Work that has been asked for and is not in the model. */
export interface Job {
  readonly way: Way;
  readonly rows: readonly RowRange[];
  /** Updates of the model that it makes. */
  readonly updates: number;
  /** Updates that the model had when the job was handed out. */
  readonly seen: number;
  /** What the device answers next. */
  readonly awaits: "done" | "applied" | "pushed" | "blended";
  /** The blend that puts it into the model, null if there is none. */
  readonly blend: number | null;
  /** Seconds that the device was busy with it. */
  readonly seconds: number;
}

/** What there is to know of a device. */
export interface SharedModelDevice extends CheckedDevice {
  /** b, not rounded. */
  readonly batchRows: number;
  /** In the order in which they were asked for. */
  readonly jobs: readonly Job[];
  /** Jobs of its that are in the model. One that joins counts from where the slowest is. */
  readonly clock: number;
  /** u of this epoch, as the algorithm counts it. One that joins counts from the least there is. */
  readonly credit: number;
  /** η at its last batch. */
  readonly learningRate: number;
  /** Of its work that is in the model, since the last report. */
  readonly since: {
    readonly rows: number;
    readonly updates: number;
    /** Σ over updates of how stale they were; null for steps, of which nobody knows. */
    readonly staleness: number | null;
    readonly seconds: number;
  };
}

/** An algorithm whose devices work on one shared model, each at its own speed. */
export interface SharedModelAlgorithm {
  readonly name: string;
  readonly settings: RunSettings;
  readonly maxBatchRows: number;
  /** Rows of a round, null for a quarter of an epoch and at least a job for each device. */
  readonly roundRows: number | null;
  models(devices: readonly DeviceInfo[]): readonly ModelName[];
  /** Jobs that may be outstanding at a device. */
  readonly queueDepth: 1 | 2;
  /** Whether all wait for each other at the end of an epoch. */
  readonly epochBarrier: boolean;
  /** @throws {@link SchedulerError} `INVALID_SETUP` if the device is of no use. */
  admit?(device: CheckedDevice): void;
  /** b at the start, of `rows` an epoch. */
  batchRows(device: CheckedDevice, rows: number): number;
  /** b now that the device asks for work. */
  resize?(device: SharedModelDevice, others: readonly SharedModelDevice[], rows: number): number;
  order(device: SharedModelDevice): Order;
  /** Whether the device has to wait for others. */
  waits?(device: SharedModelDevice, devices: readonly SharedModelDevice[]): boolean;
  /** What updates count for in u. Default: as many as they are. */
  credit?(device: SharedModelDevice, updates: number): number;
}

/** The state of an algorithm on a shared model, plain JSON. */
export interface SharedModelState extends Run {
  /** In the order of joining. */
  readonly devices: readonly SharedModelDevice[];
  /**
   * Lost devices with work that still has to be reported, or whose blend is under way all the same.
   */
  readonly departed: readonly SharedModelDevice[];
  /** Of which rows are handed out, as of the last pause. */
  readonly epoch: number;
  /** Blends asked for so far. */
  readonly blends: number;
}
