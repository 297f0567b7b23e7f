import type { BatchScaling } from "./batch-size.js";
import type { LearningRateSchedule } from "./learning-rate.js";
import type { MergeRule } from "./merge-rule.js";

/** When `global` is evaluated: after every merge, every so many merges, at the first merge after each epoch's end, or only at the end of the run. */
export type EvaluateEvery = "merge" | "epoch" | "never" | number;

/** Options of `adaptiveSgd`. Each mechanism of the algorithm has its own switch. */
export interface AdaptiveSgdOptions {
  /** Passes over the rows, `Infinity` to go on until told to finish. */
  readonly epochs: number;
  /** schedule(t), for a batch of `batch.reference` rows. */
  readonly schedule: LearningRateSchedule;
  /** How replicas are merged, e.g. `normalizedMerge()` of `@heterosgd/merge`. Switches normalised weights, perturbation and momentum. */
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
  /** Whether the learning rate grows with the batch, η_i = schedule(t)·b_i/b_ref. On if left out. */
  readonly scaleLearningRate?: boolean;
  /** Epochs at the start with small batches of equal size and a linear learning-rate ramp. 0 if left out. */
  readonly warmupEpochs?: number;
  /** Rows of a batch during warm-up. b_min if left out. */
  readonly warmupBatch?: number;
  /** "epoch" if left out. The model at the end of the run is evaluated in any case. */
  readonly evaluateEvery?: EvaluateEvery;
  /** Ends the run after this many updates of all devices together. No limit if left out. */
  readonly maxSteps?: number;
}

/** What `adaptiveSgd` takes where an option is left out; the others depend on `batch.max` and N. */
export const adaptiveSgdDefaults = {
  batchMax: 128,
  batchScaling: { rule: "relative" },
  dynamicDispatch: true,
  scaleLearningRate: true,
  warmupEpochs: 0,
  evaluateEvery: "epoch",
} as const;
