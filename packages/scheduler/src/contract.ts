/**
 * The language between a training algorithm (a policy) and whatever executes it: real devices, the
 * in-process replay, a simulator, a cluster. A policy is a pure state machine: no clock, no
 * randomness, no input or output; its state is JSON and goes into checkpoints.
 *
 * A device executes its commands in the order they were issued. Commands to different devices run
 * at the same time.
 */

import type { Report } from "./report.js";

export type * from "./report.js";

/** Position of a device in the list that the run was started with (or joined at); never reused. */
export type DeviceId = number;

/**
 * Rows `start … start + count − 1` of the permutation of `epoch` (counting from 0). The permutation
 * is a function of the run's seed and the epoch alone, so a range says which rows are meant
 * independent of any device.
 */
export interface RowRange {
  readonly epoch: number;
  readonly start: number;
  readonly count: number;
}

/**
 * A model is a bundle: parameters, the optimiser's state arrays and a count of updates.
 *
 * - `global`: w̄, what is evaluated and saved. `previous`: w̄⁻. `next`: room for a merge's result.
 * - `replica:i`: w_i, device i's own copy.
 * - `gradient:i:0`, `gradient:i:1`: two accumulators of device i (parameters only).
 */
export type ModelName =
  | "global"
  | "previous"
  | "next"
  | `replica:${DeviceId}`
  | `gradient:${DeviceId}:${0 | 1}`;

export interface Term {
  readonly model: ModelName;
  readonly coefficient: number;
}

/** Trains on `rows` as one batch (one update), in place on `model`. Answered by `done`. */
export interface StepCommand {
  readonly type: "step";
  readonly device: DeviceId;
  /** Usually one range; several where rows came back from a lost device in pieces. */
  readonly rows: readonly RowRange[];
  /**
   * Splits the command into updates of this many rows, so that very small batches need no message
   * each. Default: one update.
   */
  readonly microBatchRows?: number;
  readonly learningRate: number;
  readonly model: ModelName;
}

/**
 * Adds the gradient (sum over rows) at the parameters of `model` to the accumulator `into`.
 * Answered by `done`.
 */
export interface AccumulateCommand {
  readonly type: "accumulate";
  readonly device: DeviceId;
  readonly rows: readonly RowRange[];
  readonly model: ModelName;
  readonly into: ModelName;
  /** Whether `into` is zeroed first. Default: no. */
  readonly reset?: boolean;
}

/** Copies `global` into the device's replica. Unanswered: what the device does next sees it. */
export interface PullCommand {
  readonly type: "pull";
  readonly device: DeviceId;
}

/**
 * Makes a model of the device's own readable by others. It stays so, even if the device is lost,
 * until the device next changes that model; the target of a blend is readable as well. Answered by
 * `pushed`.
 */
export interface PushCommand {
  readonly type: "push";
  readonly device: DeviceId;
  /** Default: the replica. */
  readonly model?: ModelName;
  /** Whether `pushed` must carry the L2 norm of the model's parameters. */
  readonly norm: boolean;
}

/**
 * The device adds `scale · source` to `target` in place, element by element, then zeroes `source`.
 * Others may be updating `target` meanwhile (lock-free algorithms). Answered by `applied`.
 */
export interface ApplyCommand {
  readonly type: "apply";
  readonly device: DeviceId;
  readonly source: ModelName;
  readonly target: ModelName;
  readonly scale: number;
}

/**
 * `target ← Σ coefficient · model` over parameters, and the same with `stateTerms` over optimiser
 * state; no terms at all zero it. Answered by one `blended`; work issued to devices before or behind
 * it may overlap it, so that this one command serves merges and delayed reductions alike. Devices
 * that share a memory have a slice each, which they take when they come to it in their own queues;
 * a network begins at once.
 *
 * The target may be among the terms. A device's models must have been pushed to be terms, and are
 * left alone until `blended`. Where the target is `global` itself, devices may be stepping on it
 * meanwhile (lock-free algorithms), and what they do may be lost. The target's count of updates
 * becomes the largest among those of `stateTerms`. If the target is a replica, its device sees the
 * result in whatever it is asked to do after `blended`. If a device is lost, the others take over
 * its slices: `blended` comes as long as there are devices.
 */
export interface BlendCommand {
  readonly type: "blend";
  readonly id: number;
  readonly target: ModelName;
  readonly terms: readonly Term[];
  readonly stateTerms: readonly Term[];
}

/**
 * Exchanges what names mean, without copying: afterwards `names[0]` is what `names[1]` was, and so
 * on round. Issue it only while no device has unanswered work on any of these models.
 */
export interface RotateCommand {
  readonly type: "rotate";
  readonly names: readonly ModelName[];
}

/**
 * Evaluates `global` on the evaluation rows. Answered by `evaluated`; a `finish` on account of the
 * result is sent before it, so that the run can end with the very model that was evaluated.
 */
export interface EvaluateCommand {
  readonly type: "evaluate";
  readonly id: number;
}

/** A fact for the run's event stream, e.g. updates, batch sizes and weights of a merge. */
export interface ReportCommand {
  readonly type: "report";
  readonly report: Report;
}

/**
 * Copies the models, for a checkpoint. Answered by `checkpointed` as soon as the copy is taken;
 * writing it anywhere is nothing that the policy waits for.
 *
 * Always the last command of its transition, and no other is unanswered: that transition's state
 * and these models are all that `resume` needs. What `evaluate` would say about the model has been
 * asked before, if it was to be asked. As during an evaluation, `lost`, `joined`, `save` and
 * `finish` may come before the answer; if a device is lost the others take over its part of the
 * copy, and `checkpointed` comes as long as there are devices.
 */
export interface CheckpointCommand {
  readonly type: "checkpoint";
  readonly models: CheckpointModels;
}

/**
 * The models of a checkpoint, each with its optimiser state and count of updates: `global` first;
 * `previous` where momentum needs it; then those of devices, which count only if the very same
 * devices resume. All of them are readable: a device's own has been pushed or is a blend's result.
 */
export type CheckpointModels = readonly ["global", ...ModelName[]];

/**
 * The run is over. Always the last command. Like a `checkpoint`, it leaves a state that a run can
 * be resumed from, with these models, and nothing to write but them.
 */
export interface StopCommand {
  readonly type: "stop";
  readonly reason: StopReason;
  readonly models: CheckpointModels;
}

export type Command =
  | StepCommand
  | AccumulateCommand
  | PullCommand
  | PushCommand
  | ApplyCommand
  | BlendCommand
  | RotateCommand
  | EvaluateCommand
  | CheckpointCommand
  | ReportCommand
  | StopCommand;

export type CommandOf<T extends Command["type"]> = Extract<Command, { type: T }>;

/** Why a run ended. `devices`: none was left. */
export type StopReason = "epochs" | "steps" | "time" | "target" | "patience" | "signal" | "devices";

/** A `step` or `accumulate` is complete. */
export interface DoneEvent {
  readonly type: "done";
  readonly device: DeviceId;
  readonly rows: readonly RowRange[];
  readonly nonZeros: number;
  /** Time the device was busy with it, a handicap's idling included. */
  readonly seconds: number;
  /** Sum of the rows' losses. */
  readonly loss: number;
}

export interface PushedEvent {
  readonly type: "pushed";
  readonly device: DeviceId;
  /** L2 norm of the replica's parameters, null if it was not asked for. */
  readonly norm: number | null;
}

export interface AppliedEvent {
  readonly type: "applied";
  readonly device: DeviceId;
}

export interface BlendedEvent {
  readonly type: "blended";
  readonly id: number;
}

export interface EvaluatedEvent {
  readonly type: "evaluated";
  readonly id: number;
}

/** The models of the `checkpoint` are copied: they may be changed again. */
export interface CheckpointedEvent {
  readonly type: "checkpointed";
}

/**
 * A checkpoint is wanted (a timer's, a user's). The policy issues it at its next point at which
 * nothing is unanswered; a second one before that changes nothing.
 */
export interface SaveEvent {
  readonly type: "save";
}

/** The device is gone, with everything issued to it that is unanswered. */
export interface LostEvent {
  readonly type: "lost";
  readonly device: DeviceId;
  readonly reason: string;
}

export interface JoinedEvent {
  readonly type: "joined";
  readonly device: DeviceInfo;
}

/** Wind up: hand out nothing more, bring what is trained into `global`, then `stop`. */
export interface FinishEvent {
  readonly type: "finish";
  readonly reason: StopReason;
}

export type PolicyEvent =
  | DoneEvent
  | PushedEvent
  | AppliedEvent
  | BlendedEvent
  | EvaluatedEvent
  | CheckpointedEvent
  | SaveEvent
  | LostEvent
  | JoinedEvent
  | FinishEvent;

export interface DeviceInfo {
  readonly id: DeviceId;
  /** Largest batch that fits the device's memory, in rows; policies never exceed it. */
  readonly maxBatchRows: number;
  /**
   * Rows that it trains on at once, without locks, where it steps on a shared model. Default: 1.
   */
  readonly threads?: number;
  /** Its part in algorithms that tell the two apart (CPU+GPU Hogbatch). Default: "host". */
  readonly role?: "host" | "accelerator";
}

export interface PolicySetup {
  readonly devices: readonly DeviceInfo[];
  /** N, the training rows of an epoch. At least 1. */
  readonly rows: number;
  /** |w|, the number of parameters of the network. */
  readonly parameters: number;
}

export type Transition<State> = readonly [State, readonly Command[]];

/**
 * @typeParam State - JSON data, never mutated: `next` returns a new one. It must hold all that the
 * policy needs to go on after a checkpoint.
 */
export interface Policy<State = unknown> {
  readonly name: string;
  /** The most rows that it puts into one batch: devices take their buffers for it. */
  readonly maxBatchRows: number;
  /** The models that must exist for these devices, `global` and replicas included. */
  models(devices: readonly DeviceInfo[]): readonly ModelName[];
  start(setup: PolicySetup): Transition<State>;
  next(state: State, event: PolicyEvent): Transition<State>;
  /**
   * Goes on from a checkpoint: a state that was returned with `checkpoint` or `stop`.
   *
   * `null`: on the same devices (`devices(state)`), with all models that the command named restored,
   * readable as they were; the others may hold anything. From a `checkpoint` that is exactly what
   * `next(state, { type: "checkpointed" })` gives.
   *
   * A list: on other devices, ids as at a start, with `global` and `previous` restored. They enter as
   * devices that join do, after a loss of all that there were: rows whose work is only in arrays of
   * the old devices' own are given again.
   *
   * Where this policy's options differ from those of the run before, they win: `epochs` and
   * `maxSteps` may be more or fewer, the schedule another, batches may have other bounds. Stops at
   * once if nothing is left to do.
   *
   * @throws {@link SchedulerError} `INVALID_SETUP` for devices that can't be taken, or none;
   * `INVALID_STATE` for a state of anywhere else in a run.
   */
  resume(state: State, devices: readonly DeviceInfo[] | null): Transition<State>;
  /** Those that `resume(state, null)` counts on, also if they are about to take part. */
  devices(state: State): readonly DeviceInfo[];
  /**
   * A checkpoint's state as it came from a file, which may be anybody's: nothing is left in it that
   * is not of this policy's shape, out of range or at odds with the rest of it.
   *
   * @param run - the training rows and parameters that the run has; a state of others is refused.
   * @throws {@link SchedulerError} `INVALID_STATE`, saying what is wrong where.
   */
  checkState(value: unknown, run: Omit<PolicySetup, "devices">): State;
}
