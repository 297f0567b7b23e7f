import type { Policy } from "../contract.js";
import type { CheckedDevice } from "../common/devices.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import { SchedulerError } from "../errors.js";
import type { SharedModelState } from "../shared-model/algorithm.js";
import { roundOption } from "../shared-model/options.js";
import type { RoundRowsOption } from "../shared-model/options.js";
import { sharedModelPolicy } from "../shared-model/policy.js";

interface OwnOptions extends RoundRowsOption {
  /** Rows that a device is sent at a time; it trains on them one by one. 256 if left out. */
  readonly messageRows?: number;
}

/** Options of `hogwild`. */
export interface HogwildOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const hogwildOptions = {
  messageRows: {
    kind: "count",
    default: 256,
    min: 1,
    help: "Rows that a device is sent at a time; it trains on them one by one all the same.",
  },
  roundRows: roundOption,
} as const satisfies OptionTable<OwnOptions>;

/**
 * Hogwild: threads of CPUs update one shared model without locks, one row a step.
 *
 * ```text
 * each thread, for ever:   take a row;  w <- w − η ∇ℓ(w; row)
 * ```
 *
 * Only devices that can step on shared memory: an accelerator is refused.
 *
 * Queue depth: two messages a device, one near the end of an epoch: steps read the model as they
 * run, so a message that waits makes nothing stale. Rows that a lost device had not reported are
 * given again, though it may have trained on some of them.
 *
 * Source: Recht et al., Hogwild! (2011), a baseline of paper C.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does; `INVALID_SETUP` for an accelerator too.
 */
export function hogwild(options: HogwildOptions): Policy<SharedModelState> {
  const { messageRows, roundRows } = resolveOptions(hogwildOptions, options);
  return sharedModelPolicy({
    name: "hogwild",
    settings: resolveRun(options),
    maxBatchRows: messageRows,
    roundRows,
    models: () => ["global"],
    queueDepth: 2,
    epochBarrier: false,
    admit: refuseAccelerator,
    batchRows: () => 1,
    order: ({ maxBatchRows }) => ({
      way: "step",
      rows: Math.min(messageRows, maxBatchRows),
      microBatchRows: 1,
    }),
  });
}

function refuseAccelerator({ id, role }: CheckedDevice): void {
  if (role === "host") return;
  throw new SchedulerError(
    "INVALID_SETUP",
    `Device ${id} is an accelerator, but Hogwild needs devices that step on the shared model ` +
      "itself; leave it out, or take Hogbatch.",
  );
}
