import type { Policy } from "../contract.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { RoundState } from "../rounds/algorithm.js";
import { averaging } from "../rounds/averaging.js";
import { roundPolicy } from "../rounds/policy.js";

interface OwnOptions {
  /** b, rows of every batch. 128 if left out. */
  readonly batch?: number;
  /**
   * τ, batches that each device makes between two merges. As many as make up Adaptive SGD's
   * mega-batch if left out: min(100·b, ⌈N/4⌉) rows of all devices together.
   */
  readonly mergeEvery?: number;
}

/** Options of `elasticSgd`. */
export interface ElasticSgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const elasticSgdOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  mergeEvery: {
    kind: "count",
    default: null,
    min: 1,
    help:
      "Batches that each device makes between two merges. Automatic: all devices together 100, " +
      "or a quarter of the rows if that is less.",
  },
} as const satisfies OptionTable<OwnOptions>;

/**
 * Elastic SGD: every device makes τ steps on its replica, in equal batches dealt in turn; then all
 * replicas are averaged.
 *
 * ```text
 * round:   w_i <- w̄;  τ times: w_i <- w_i − η · Σ∇ℓ(w_i; b rows)/b
 * all in:  w̄ <- Σ w_i/n
 * ```
 *
 * A batch of less than b rows (the end of an epoch, a device with little memory) moves the replica
 * by as much less. A replica without a step in the round is not averaged.
 *
 * Queue depth: two batches: a replica is its device's own. A round is one merge.
 *
 * Source: paper A (arXiv 2110.07029), Elastic SGD; what happens to short batches is ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function elasticSgd(options: ElasticSgdOptions): Policy<RoundState> {
  const { batch, mergeEvery } = resolveOptions(elasticSgdOptions, options);
  const turns = (rows: number, devices: number) => {
    const megaBatch = Math.min(100 * batch, Math.ceil(rows / 4));
    return mergeEvery ?? Math.max(1, Math.round(megaBatch / (devices * batch)));
  };
  return roundPolicy(averaging("elastic", resolveRun(options), batch, turns));
}
