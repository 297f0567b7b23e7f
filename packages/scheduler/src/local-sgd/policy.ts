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
  /** K, steps of each device between two averages. 8 if left out. */
  readonly localSteps?: number;
}

/** Options of `localSgd`. */
export interface LocalSgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const localSgdOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  localSteps: {
    kind: "count",
    default: 8,
    min: 1,
    help: "Steps that each device makes between two averages.",
  },
} as const satisfies OptionTable<OwnOptions>;

/**
 * Local SGD: every device makes K steps on its replica; then all replicas are averaged. The
 * arithmetic is Elastic SGD's; what differs is how seldom one merges.
 *
 * ```text
 * round:   w_i <- w̄;  K times: w_i <- w_i − η · Σ∇ℓ(w_i; b rows)/b
 * all in:  w̄ <- Σ w_i/n
 * ```
 *
 * Queue depth: two batches: a replica is its device's own. A round is one merge.
 *
 * Source: the baseline of paper B (Stich, Local SGD Converges Fast and Communicates Little, 2019).
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function localSgd(options: LocalSgdOptions): Policy<RoundState> {
  const { batch, localSteps } = resolveOptions(localSgdOptions, options);
  return roundPolicy(averaging("local", resolveRun(options), batch, () => localSteps));
}
