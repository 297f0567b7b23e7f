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
}

/** Options of `asyncSgd`. */
export interface AsyncSgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const asyncSgdOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  roundRows: roundOption,
} as const satisfies OptionTable<OwnOptions>;

/**
 * Asynchronous SGD (ASP): every gradient is applied on arrival, however stale it is.
 *
 * ```text
 * each device, for ever:   w_i <- w;  g <- Σ∇ℓ(w_i; b rows);  w <- w − η·g/b
 * ```
 *
 * A batch of less than b rows (the end of an epoch, a device with little memory) moves the model by
 * as much less. Needs plain SGD.
 *
 * Queue depth: one batch: what waits in a queue gets stale. The next one is handed out when the
 * gradient has been added, so that the device's copy has its own update. Rows whose addition a lost
 * device has not reported are given again; what it had added of them stays.
 *
 * Source: the baseline of paper B.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function asyncSgd(options: AsyncSgdOptions): Policy<SharedModelState> {
  const { batch, roundRows } = resolveOptions(asyncSgdOptions, options);
  return sharedModelPolicy(gradientsOnArrival("async", resolveRun(options), batch, roundRows));
}
