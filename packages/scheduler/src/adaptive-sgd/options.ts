import { checkScaling, defaultGain } from "../batch-size.js";
import type { BatchBounds, BatchScaling } from "../batch-size.js";
import { requireOption } from "../errors.js";
import { checkSchedule } from "../learning-rate.js";
import type { LearningRateSchedule } from "../learning-rate.js";
import type { MergeRule } from "../merge-rule.js";

/**
 * When `global` is evaluated: after every merge, after every so many merges, at the first merge
 * after the end of each epoch, or only at the end of the run.
 */
export type EvaluateEvery = "merge" | "epoch" | "never" | number;

/** Options of `adaptiveSgd`. Each mechanism of the algorithm has its own switch. */
export interface AdaptiveSgdOptions {
  /** Passes over the rows, `Infinity` to go on until told to finish. */
  readonly epochs: number;
  /** schedule(t), for a batch of `batch.reference` rows. */
  readonly schedule: LearningRateSchedule;
  /**
   * How replicas are merged, e.g. `normalizedMerge()` of `@heterosgd/merge`. It holds the switches
   * of normalised weights, perturbation and momentum.
   */
  readonly merge: MergeRule;
  readonly batch?: {
    /** b_max, also what every device starts with. 128 rows if left out. */
    readonly max?: number;
    /** b_min. b_max/8 if left out. */
    readonly min?: number;
    /** b_ref, the batch size that the schedule is meant for. b_max if left out. */
    readonly reference?: number;
  };
  /** M, rows handed out between two merges. min(100·b_max, ⌈N/4⌉) if left out. */
  readonly megaBatchRows?: number;
  /** How batch sizes move. `{ rule: "relative" }` if left out. */
  readonly batchScaling?: BatchScaling;
  /**
   * On (the default): batches go to whichever device is free. Off: each device is dealt the same
   * number of batches, in turn, before a mega-batch starts, and the fast ones wait at its end.
   */
  readonly dynamicDispatch?: boolean;
  /**
   * Whether the learning rate grows with the batch, η_i = schedule(t)·b_i/b_ref. On if left out;
   * meant for SGD alone.
   */
  readonly scaleLearningRate?: boolean;
  /**
   * Epochs at the start with small equal batches and a linear learning-rate ramp. 0 if left out.
   */
  readonly warmupEpochs?: number;
  /** Rows of a batch during warm-up. b_min if left out. */
  readonly warmupBatch?: number;
  /** "epoch" if left out. The model at the end of the run is evaluated in any case. */
  readonly evaluateEvery?: EvaluateEvery;
  /** Ends the run after this many updates of all devices together. `Infinity` if left out. */
  readonly maxSteps?: number;
}

/** What `adaptiveSgd` takes where an option is left out; the others depend on `batch.max` and N. */
export const adaptiveSgdDefaults = {
  batchMax: 128,
  batchScaling: { rule: "relative", gain: defaultGain },
  dynamicDispatch: true,
  scaleLearningRate: true,
  warmupEpochs: 0,
  evaluateEvery: "epoch",
  maxSteps: Infinity,
} as const;

/** The options with every default filled in, but for the mega-batch's, which needs N. */
export interface Settings extends Required<Omit<AdaptiveSgdOptions, "batch" | "megaBatchRows">> {
  readonly bounds: BatchBounds;
  readonly referenceRows: number;
  readonly megaBatchRows: number | null;
}

/** Fills in the defaults and refuses values out of range. */
export function resolveOptions(options: AdaptiveSgdOptions): Settings {
  const {
    epochs,
    schedule,
    merge,
    batch = {},
    megaBatchRows = null,
    batchScaling = adaptiveSgdDefaults.batchScaling,
    dynamicDispatch = adaptiveSgdDefaults.dynamicDispatch,
    scaleLearningRate = adaptiveSgdDefaults.scaleLearningRate,
    warmupEpochs = adaptiveSgdDefaults.warmupEpochs,
    evaluateEvery = adaptiveSgdDefaults.evaluateEvery,
    maxSteps = adaptiveSgdDefaults.maxSteps,
  } = options;
  const { max = adaptiveSgdDefaults.batchMax } = batch;
  const { min = Math.max(1, Math.round(max / 8)), reference = max } = batch;
  const { warmupBatch = min } = options;

  requireCount("epochs", epochs, Infinity);
  checkSchedule(schedule);
  requireCount("batch.max", max);
  requireCount("batch.min", min, max);
  requireCount("batch.reference", reference);
  if (megaBatchRows !== null) requireCount("megaBatchRows", megaBatchRows);
  checkScaling(batchScaling);
  requireOption(
    warmupEpochs >= 0 && warmupEpochs < Infinity,
    "warmupEpochs",
    warmupEpochs,
    "0 or more",
  );
  requireCount("warmupBatch", warmupBatch, max);
  if (typeof evaluateEvery === "number") requireCount("evaluateEvery", evaluateEvery);
  requireCount("maxSteps", maxSteps, Infinity);

  return {
    epochs,
    schedule,
    merge,
    bounds: { min, max },
    referenceRows: reference,
    megaBatchRows,
    batchScaling,
    dynamicDispatch,
    scaleLearningRate,
    warmupEpochs,
    warmupBatch,
    evaluateEvery,
    maxSteps,
  };
}

function requireCount(name: string, value: number, max = Number.MAX_SAFE_INTEGER): void {
  requireOption(
    (Number.isSafeInteger(value) || value === max) && value >= 1 && value <= max,
    name,
    value,
    max === Number.MAX_SAFE_INTEGER
      ? "a whole number, at least 1"
      : `a whole number from 1 to ${max}`,
  );
}
