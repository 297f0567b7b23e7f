/**
 * What every algorithm has in common: how long a run lasts, when its model is evaluated, how it
 * ends.
 */
import type { Command, StopReason, Transition } from "../contract.js";
import { requireOption } from "../errors.js";
import { checkSchedule } from "../learning-rate.js";
import type { LearningRateSchedule } from "../learning-rate.js";
import { createRowQueue, rowsLeft } from "../row-queue.js";
import type { RowQueue } from "../row-queue.js";
import { requireCount } from "./options.js";
import type { OptionTable } from "./options.js";

/**
 * When `global` is evaluated: after every merge (round), after every so many of them, at the first
 * one after the end of each epoch, or only at the end of the run.
 */
export type EvaluateEvery = "merge" | "epoch" | "never" | number;

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
  /** Ends the run after this many updates of all devices together. `Infinity` if left out. */
  readonly maxSteps?: number;
}

/** What is taken where an option is left out. */
export const runDefaults = {
  warmupEpochs: 0,
  evaluateEvery: "epoch",
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
} as const satisfies OptionTable<Omit<RunOptions, "schedule" | "evaluateEvery">>;

export type RunSettings = Required<RunOptions>;

/** @throws {@link SchedulerError} `INVALID_OPTION` */
export function resolveRun({
  epochs,
  schedule,
  warmupEpochs = runDefaults.warmupEpochs,
  evaluateEvery = runDefaults.evaluateEvery,
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
  requireCount("maxSteps", maxSteps, Infinity);
  return { epochs, schedule, warmupEpochs, evaluateEvery, maxSteps };
}

/** Why a run ends by itself now, null if it doesn't; `steps` updates are made. */
export function exhausted(queue: RowQueue, steps: number, maxSteps: number): StopReason | null {
  if (rowsLeft(queue) === 0) return "epochs";
  return steps >= maxSteps ? "steps" : null;
}

/** Whether to evaluate after this round, in which an epoch has ended or not. */
export function evaluationDue(every: EvaluateEvery, round: number, epochEnded: boolean): boolean {
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
  readonly phase: "working" | "merging" | "evaluating" | "stopped";
  readonly queue: RowQueue;
  /** Rounds done. */
  readonly rounds: number;
  /** Updates in the model. */
  readonly steps: number;
  /** Epochs reported as complete. */
  readonly epochsDone: number;
  /** What `rounds` was at the latest evaluation, null before the first. */
  readonly evaluated: number | null;
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
    finish: null,
  };
}

export function evaluate<State extends Run>(state: State): Transition<State> {
  const { rounds } = state;
  return [{ ...state, phase: "evaluating", evaluated: rounds }, [{ type: "evaluate", id: rounds }]];
}

/** The end: evaluates the model unless that was done already, then stops. */
export function conclude<State extends Run>(state: State, reason: StopReason): Transition<State> {
  return state.evaluated === state.rounds ? stop(state, reason) : evaluate(state);
}

export function stop<State extends Run>(state: State, reason: StopReason): Transition<State> {
  return [{ ...state, phase: "stopped", finish: reason }, [{ type: "stop", reason }]];
}
