import type { Policy } from "../contract.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { SharedModelState } from "../shared-model/algorithm.js";
import { gradientsOnArrival } from "../shared-model/gradients-on-arrival.js";
import { roundOption } from "../shared-model/options.js";
import type { RoundRowsOption } from "../shared-model/options.js";
import { sharedModelPolicy } from "../shared-model/policy.js";

interface OwnOptions extends RoundRowsOption {
  /** b, rows of every batch. 128 if left out. */
  readonly batch?: number;
  /** s, steps that a device may be ahead of the slowest. 3 if left out. */
  readonly staleness?: number;
}

/** Options of `ssp`. */
export interface SspOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const sspOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  staleness: {
    kind: "count",
    default: 3,
    min: 0,
    help: "Steps that a device may be ahead of the slowest one; beyond it, it waits.",
  },
  roundRows: roundOption,
} as const satisfies OptionTable<OwnOptions>;

/**
 * Stale synchronous parallel: asynchronous SGD, but a device more than s steps ahead of the slowest
 * waits.
 *
 * ```text
 * each device, for ever:   wait until steps_i − min steps ≤ s
 *                          w_i <- w;  g <- Σ∇ℓ(w_i; b rows);  w <- w − η·g/b;  steps_i += 1
 * ```
 *
 * Everything else is as in `asyncSgd`. A device that joins starts with the slowest one's steps; a
 * lost one is waited for no longer. Needs plain SGD.
 *
 * Queue depth: one batch, as in `asyncSgd`.
 *
 * Source: Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter
 * Server (2013), a baseline of paper B.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function ssp(options: SspOptions): Policy<SharedModelState> {
  const { batch, staleness, roundRows } = resolveOptions(sspOptions, options);
  return sharedModelPolicy({
    ...gradientsOnArrival("ssp", resolveRun(options), batch, roundRows),
    waits: ({ clock }, devices) =>
      clock - Math.min(...devices.map((device) => device.clock)) > staleness,
  });
}
