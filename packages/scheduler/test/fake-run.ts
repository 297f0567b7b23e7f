import type {
  Command,
  DeviceInfo,
  ModelName,
  PolicyEvent,
  Report,
  RowRange,
  StopReason,
} from "../src/index.js";
import type { ToyModel } from "./toy-model.js";

export interface FakeDevice extends DeviceInfo {
  /** Rows a second. */
  readonly speed: number;
  /** The fixed part of a step, as the rows that take as long. None if left out. */
  readonly fixedRows?: number;
}

export interface Incident {
  readonly at: number;
  readonly event: PolicyEvent;
  /** Speed of a device that joins. */
  readonly speed?: number;
}

/** All that goes into a checkpoint. */
export interface Saved<State> {
  readonly state: State;
  /** Those that the command names. */
  readonly models: ReadonlyMap<ModelName, ToyModel>;
  /** Rows of each step and accumulation until then, as the models number them. */
  readonly made: readonly (readonly RowRange[])[];
  /** Devices that the state counts on. */
  readonly devices: readonly FakeDevice[];
  /** Events until then. */
  readonly events: number;
}

/** Where a run goes on; without devices on the same ones. */
export interface Resumption<State> {
  readonly saved: Saved<State>;
  readonly at: number;
  readonly devices?: readonly FakeDevice[];
}

export interface FakeRun<State> {
  readonly state: State;
  readonly reason: StopReason;
  readonly events: readonly PolicyEvent[];
  /** When each of them came. */
  readonly times: readonly number[];
  /** One for each checkpoint, and last the end. */
  readonly saved: readonly Saved<State>[];
  /** What `start` answered, then what each event was answered with. */
  readonly commands: readonly (readonly Command[])[];
  readonly reports: readonly Report[];
  /**
   * Rows that the final global model has been trained on, `epoch * N + position`, with repetitions.
   */
  readonly trained: readonly number[];
  /** The global model's parameters at the start, then after each event and what it had done. */
  readonly trajectory: readonly (readonly number[])[];
  /** The most batches that were outstanding at a device at a time. */
  readonly deepest: number;
}
