import { checkScaling, defaultGain, defaultThroughput } from "../batch-size.js";
import type { BatchBounds, BatchScaling } from "../batch-size.js";
import { requireCount } from "../common/options.js";
import { resolveRun, runDefaults } from "../common/run.js";
import type { RunOptions, RunSettings } from "../common/run.js";
import type { MergeRule } from "../merge-rule.js";

/**
 * Options of `adaptiveSgd`. Each mechanism of the algorithm has its own switch. The schedule is for
 * a batch of `batch.reference` rows; warm-up also means small equal batches.
 */
export interface AdaptiveSgdOptions extends RunOptions {
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
  /** How batch sizes move. `{ rule: "relative" }` with its own defaults if left out. */
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
  /** Rows of a batch during warm-up. b_min if left out. */
  readonly warmupBatch?: number;
}

/** What `adaptiveSgd` takes where an option is left out; the others depend on `batch.max` and N. */
export const adaptiveSgdDefaults = {
  batchMax: 128,
  batchScaling: { rule: "relative", gain: defaultGain, throughput: defaultThroughput },
  dynamicDispatch: true,
  scaleLearningRate: true,
  ...runDefaults,
} as const;

/** The options with every default filled in, but for the mega-batch's, which needs N. */
export interface Settings
  extends RunSettings, Required<Omit<AdaptiveSgdOptions, "batch" | "megaBatchRows">> {
  readonly bounds: BatchBounds;
  readonly referenceRows: number;
  readonly megaBatchRows: number | null;
}

/** Fills in the defaults and refuses values out of range. */
export function resolveOptions(options: AdaptiveSgdOptions): Settings {
  const {
    merge,
    batch = {},
    megaBatchRows = null,
    batchScaling = adaptiveSgdDefaults.batchScaling,
    dynamicDispatch = adaptiveSgdDefaults.dynamicDispatch,
    scaleLearningRate = adaptiveSgdDefaults.scaleLearningRate,
  } = options;
  const { max = adaptiveSgdDefaults.batchMax } = batch;
  const { min = Math.max(1, Math.round(max / 8)), reference = max } = batch;
  const { warmupBatch = min } = options;

  const run = resolveRun(options);
  requireCount("batch.max", max);
  requireCount("batch.min", min, max);
  requireCount("batch.reference", reference);
  if (megaBatchRows !== null) requireCount("megaBatchRows", megaBatchRows);
  checkScaling(batchScaling);
  requireCount("warmupBatch", warmupBatch, max);

  return {
    ...run,
    merge,
    bounds: { min, max },
    referenceRows: reference,
    megaBatchRows,
    batchScaling,
    dynamicDispatch,
    scaleLearningRate,
    warmupBatch,
  };
}
