import type { Metrics, ModelShape } from "@heterosgd/model";
import type {
  DeviceInfo,
  JoinedEvent,
  LostEvent,
  PolicyEvent,
  Report,
  StopReason,
} from "@heterosgd/scheduler";
import type { FailedRetry, Replaced } from "../coordinator/replacements.js";
import type { KernelsDescription } from "../device/device-kernels.js";
import type { Profile, ProfileDevice } from "../simulate/profile.js";
import type { DeviceSummary } from "./tally.js";

/** What a simulated run's times come from. */
export interface SimulationRecord extends Pick<Profile, "link" | "kinds" | "network"> {
  /** The profile's name. */
  readonly profile: string;
  /** Whether its numbers were measured; else they are assumptions. */
  readonly measured: boolean;
  readonly devices: readonly ProfileDevice[];
  /** Whether evaluations take time. */
  readonly countsEvaluation: boolean;
}

/** The first line of a run's event stream. */
export interface StartRecord {
  readonly type: "start";
  readonly algorithm: string;
  readonly seed: number;
  readonly shape: ModelShape;
  readonly trainRows: number;
  readonly evaluationRows: number;
  readonly parameters: number;
  readonly devices: readonly {
    readonly device: number;
    readonly name: string;
    /** As the kernels name themselves. */
    readonly kernels: string;
    /** What they are, for running the same again; not there in older recordings: plain ones. */
    readonly runs?: KernelsDescription;
    /** What the policy knows of it; not there in older recordings. */
    readonly info?: DeviceInfo;
    /** Seconds from when on it is there, in a simulation; left out: from the start. */
    readonly joins?: number;
  }[];
  /** Where times are a simulator's: by which profile. */
  readonly simulated?: SimulationRecord;
  /** Why no native kernels run, where whatever there is was asked for; else null. */
  readonly nativeUnavailable?: string | null;
}

/** The run goes on from a checkpoint: what follows is as if it had come straight after it. */
export interface ResumeRecord extends Omit<StartRecord, "type"> {
  readonly type: "resume";
  /** The checkpoint's folder, such as `step-100`, and how far the run had come. */
  readonly checkpoint: string;
  readonly step: number;
  readonly rows: number;
  readonly merges: number;
  /** Whether it goes on as it would have done; else on other devices. */
  readonly exact: boolean;
}

/** A checkpoint is on the disk. */
export interface SavedRecord {
  readonly type: "saved";
  readonly checkpoint: string;
  readonly step: number;
  readonly bytes: number;
  /** Time that writing it took, beside training. */
  readonly seconds: number;
  /** Why older checkpoints could not be removed; null where they could. */
  readonly notRemoved: string | null;
}

/** A checkpoint could not be written. */
export interface NotSavedRecord {
  readonly type: "not-saved";
  readonly reason: string;
}

/** A device has joined. What the policy need not know is there if it was not named at the start. */
export interface JoinedRecord extends JoinedEvent {
  readonly name?: string;
  /** As `parseDevices` reads it. */
  readonly spec?: string;
  /** As the kernels name themselves. */
  readonly kernels?: string;
  /** What they are, for running the same again. */
  readonly runs?: KernelsDescription;
  /** The lost device whose place it takes, and how many have taken it; null if it is an added one. */
  readonly replaces?: Replaced | null;
}

/** A device is lost. */
export interface LostRecord extends LostEvent {
  /**
   * Which retry follows, counting from 1 for a device that was named or added; null if none does. Not
   * there in simulations and older recordings.
   */
  readonly retry?: number | null;
}

/** A lost device could not be opened anew. */
export interface RetryFailedRecord extends FailedRetry {
  readonly type: "retry-failed";
}

/** A device that was to be added could not be opened. */
export interface AddFailedRecord {
  readonly type: "add-failed";
  /** As `parseDevices` reads it. */
  readonly spec: string;
  readonly reason: string;
}

/** What the policy saw, with what a reader of the record wants to know besides. */
export type RecordedEvent =
  | Exclude<PolicyEvent, JoinedEvent | LostEvent>
  | JoinedRecord
  | LostRecord;

/** The global model on the whole evaluation set. */
export interface EvaluationRecord {
  readonly type: "evaluation";
  /** Training rows done until then. */
  readonly rows: number;
  readonly metrics: Metrics;
}

/** The last line. */
export interface EndRecord {
  readonly type: "end";
  readonly reason: StopReason;
  readonly devices: readonly DeviceSummary[];
}

/**
 * One line of `events.jsonl`: what happened, and when. Policy events are recorded as the policy saw
 * them, in its order, which is what a replay needs.
 */
export type RunEvent = {
  /** Seconds since the run began. */
  readonly at: number;
} & (
  | StartRecord
  | ResumeRecord
  | RecordedEvent
  | RetryFailedRecord
  | AddFailedRecord
  | Report
  | EvaluationRecord
  | SavedRecord
  | NotSavedRecord
  | EndRecord
);

/** An event before it is known when it happens. */
export type UndatedEvent = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "at">
    : never
  : never;
