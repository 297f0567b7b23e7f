/**
 * What every algorithm has in common: how long a run lasts, when its model is evaluated and saved,
 * how it ends.
 */
import type { CheckpointModels, Command, StopReason, Transition } from "../contract.js";
import { requireOption } from "../errors.js";
import { checkSchedule } from "../learning-rate.js";
import type { LearningRateSchedule } from "../learning-rate.js";
import { createRowQueue, rowsLeft, withEpochs } from "../row-queue.js";
import type { RowQueue } from "../row-queue.js";
import { requireCount } from "./options.js";
import type { OptionTable } from "./options.js";
import { invalid } from "./shape.js";

/**
 * After every merge (round), after every so many of them, at the first one after the end of each
 * epoch, or never but at the end of the run.
 */
export type Every = "merge" | "epoch" | "never" | number;

/** When `global` is evaluated. */
export type EvaluateEvery = Every;

/** When a `checkpoint` is issued, beside those that `save` events ask for. */
export type CheckpointEvery = Every;

/** Options of every algorithm. */
export interface RunOptions {
  /** Passes over the rows, `Infinity` to go on until told to finish. */
  readonly epochs: number;
  /** η(t). */
  readonly schedule: LearningRateSchedule;
  /** Epochs at the start over which the learning rate rises from 0. 0 if left out. */
  readonly warmupEpochs?: number;
  /** "epoch" if left out. The model at the end of the run is evaluated in any case. */
  readonly evaluateEvery?: EvaluateEvery;
  /** "never" if left out. The end of the run is a checkpoint in any case. */
  readonly checkpointEvery?: CheckpointEvery;
  /** Ends the run after this many updates of all devices together. `Infinity` if left out. */
  readonly maxSteps?: number;
}

/** What is taken where an option is left out. */
export const runDefaults = {
  warmupEpochs: 0,
  evaluateEvery: "epoch",
  checkpointEvery: "never",
  maxSteps: Infinity,
} as const;

/** The options of every algorithm that are plain numbers, as data. */
export const runOptions = {
  epochs: { kind: "count", default: null, min: 1, endless: true, help: "Passes over the rows." },
  warmupEpochs: {
    kind: "number",
    default: runDefaults.warmupEpochs,
    min: 0,
    help: "Epochs at the start over which the learning rate rises from 0.",
  },
  maxSteps: {
    kind: "count",
    default: runDefaults.maxSteps,
    min: 1,
    endless: true,
    help: "Ends the run after this many updates, those of all devices together.",
  },
} as const satisfies OptionTable<
  Omit<RunOptions, "schedule" | "evaluateEvery" | "checkpointEvery">
>;

export type RunSettings = Required<RunOptions>;

/** @throws {@link SchedulerError} `INVALID_OPTION` */
export function resolveRun({
  epochs,
  schedule,
  warmupEpochs = runDefaults.warmupEpochs,
  evaluateEvery = runDefaults.evaluateEvery,
  checkpointEvery = runDefaults.checkpointEvery,
  maxSteps = runDefaults.maxSteps,
}: RunOptions): RunSettings {
  requireCount("epochs", epochs, Infinity);
  checkSchedule(schedule);
  requireOption(
    warmupEpochs >= 0 && warmupEpochs < Infinity,
    "warmupEpochs",
    warmupEpochs,
    "0 or more",
  );
  if (typeof evaluateEvery === "number") requireCount("evaluateEvery", evaluateEvery);
  if (typeof checkpointEvery === "number") requireCount("checkpointEvery", checkpointEvery);
  requireCount("maxSteps", maxSteps, Infinity);
  return { epochs, schedule, warmupEpochs, evaluateEvery, checkpointEvery, maxSteps };
}

/** Why a run ends by itself now, null if it doesn't; `steps` updates are made. */
export function exhausted(queue: RowQueue, steps: number, maxSteps: number): StopReason | null {
  if (rowsLeft(queue) === 0) return "epochs";
  return steps >= maxSteps ? "steps" : null;
}

/** Whether this round is one of `every`; an epoch has ended in it or not. */
export function isDue(every: Every, round: number, epochEnded: boolean): boolean {
  switch (every) {
    case "never":
      return false;
    case "merge":
      return true;
    case "epoch":
      return epochEnded;
    default:
      return round % every === 0;
  }
}

/** Reports that the epochs from `before` on, up to `after`, are complete. */
export function epochReports(before: number, after: number): readonly Command[] {
  return Array.from({ length: Math.max(0, after - before) }, (_, i) => ({
    type: "report",
    report: { type: "epoch", epoch: before + i },
  }));
}

/** How far a run has come: a part of the state of every policy but `adaptiveSgd`. */
export interface Run {
  readonly phase: "working" | "merging" | "evaluating" | "saving" | "stopped";
  readonly queue: RowQueue;
  /** Rounds done. */
  readonly rounds: number;
  /** Updates in the model. */
  readonly steps: number;
  /** Epochs reported as complete. */
  readonly epochsDone: number;
  /** What `rounds` was at the latest evaluation, null before the first. */
  readonly evaluated: number | null;
  /** Whether a checkpoint is wanted. */
  readonly saveDue: boolean;
  /** Why the run is being wound up, null while it isn't. */
  readonly finish: StopReason | null;
}

/** A run before its first round. */
export function newRun({ epochs }: RunSettings, rows: number): Run {
  return {
    phase: "working",
    queue: createRowQueue(rows, epochs),
    rounds: 0,
    steps: 0,
    epochsDone: 0,
    evaluated: null,
    saveDue: false,
    finish: null,
  };
}

export function evaluate<State extends Run>(state: State): Transition<State> {
  const { rounds } = state;
  return [{ ...state, phase: "evaluating", evaluated: rounds }, [{ type: "evaluate", id: rounds }]];
}

/** A checkpoint is wanted, unless one is being taken: nothing has changed since. */
export function requestSave<State extends Run>(state: State): State {
  return state.phase === "saving" ? state : { ...state, saveDue: true };
}

/** Issues the checkpoint; nothing may be unanswered. */
export function save<State extends Run>(state: State, models: CheckpointModels): Transition<State> {
  return [{ ...state, phase: "saving", saveDue: false }, [{ type: "checkpoint", models }]];
}

/** The end: evaluates the model unless that was done already, then stops. */
export function conclude<State extends Run>(
  state: State,
  reason: StopReason,
  models?: CheckpointModels,
): Transition<State> {
  return state.evaluated === state.rounds ? stop(state, reason, models) : evaluate(state);
}

/** Stops; nothing may be unanswered that the state depends on. */
export function stop<State extends Run>(
  state: State,
  reason: StopReason,
  models: CheckpointModels = ["global"],
): Transition<State> {
  return [
    { ...state, phase: "stopped", saveDue: false, finish: reason },
    [{ type: "stop", reason, models }],
  ];
}

/**
 * The run as it goes on from a checkpoint or from its end.
 *
 * @throws {@link SchedulerError} `INVALID_STATE` if the state is of anywhere else.
 */
export function resumed<State extends Run>(state: State, { epochs }: RunSettings): State {
  const { phase, queue } = state;
  if (phase !== "saving" && phase !== "stopped") {
    throw invalid("phase", phase, '"saving" or "stopped"');
  }
  return { ...state, phase: "working", finish: null, queue: withEpochs(queue, epochs) };
}
