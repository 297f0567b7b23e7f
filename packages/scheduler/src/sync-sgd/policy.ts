import type { Policy } from "../contract.js";
import { replicasAndGradientsOf } from "../common/models.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { RoundState } from "../rounds/algorithm.js";
import { roundPolicy } from "../rounds/policy.js";
import { gradientMerge } from "../rounds/gradient-merge.js";

interface OwnOptions {
  /** b, rows of each device's batch. 128 if left out. */
  readonly batch?: number;
}

/** Options of `syncSgd`. */
export interface SyncSgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const syncSgdOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of each device's batch." },
} as const satisfies OptionTable<OwnOptions>;

/**
 * Synchronous SGD (BSP, mirrored): all devices compute a gradient at the same parameters on equal
 * batches, wait for each other, and the global model takes one step along the mean.
 *
 * ```text
 * round:   g_i <- Σ∇ℓ(w; b rows), for every i
 * all in:  w <- w − η · Σ g_i / (n·b)
 * ```
 *
 * What is left of an epoch and no full round is split evenly, and moves the model by as much less.
 * A device whose memory holds less than b rows gets what it holds. Needs plain SGD.
 *
 * Queue depth: one batch, a barrier after each. A round is one update of the global model.
 *
 * Source: the baseline of papers A and B; short rounds are ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function syncSgd(options: SyncSgdOptions): Policy<RoundState> {
  const { batch } = resolveOptions(syncSgdOptions, options);
  return roundPolicy({
    name: "sync",
    settings: resolveRun(options),
    batchRows: batch,
    maxBatchRows: batch,
    models: (devices) => ["global", "next", ...replicasAndGradientsOf(devices)],
    work: "gradient",
    keepsReplicas: false,
    turns: () => 1,
    merge: gradientMerge,
    rotation: ["global", "next"],
  });
}
