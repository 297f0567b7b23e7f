import type { Policy } from "../contract.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { SharedModelState } from "../shared-model/algorithm.js";
import { roundOption } from "../shared-model/options.js";
import type { RoundRowsOption } from "../shared-model/options.js";
import { sharedModelPolicy } from "../shared-model/policy.js";
import { accelerateOption, hogbatchModels, messageRowsOption } from "./models.js";
import type { Accelerate } from "./models.js";
import { orderFor } from "./order.js";

interface OwnOptions extends RoundRowsOption {
  /** Rows of an accelerator's batch. min(8192, N/16) if left out. */
  readonly acceleratorBatch?: number;
  /** "add" if left out. */
  readonly accelerate?: Accelerate;
  /** Rows that a host is sent at a time, in batches of a row for each thread. 256 if left out. */
  readonly messageRows?: number;
}

/** Accelerators' batches grow to this where nothing is set. */
const largestAutomatic = 8192;

/** Options of `hogbatch`. */
export interface HogbatchOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const hogbatchOptions = {
  acceleratorBatch: {
    kind: "count",
    default: null,
    min: 1,
    help:
      "Rows of an accelerator's batch. Automatic: 8192, or a sixteenth of the rows if that is " +
      "less.",
  },
  accelerate: accelerateOption,
  messageRows: messageRowsOption,
  roundRows: roundOption,
} as const satisfies OptionTable<OwnOptions>;

/**
 * CPU+GPU Hogbatch: hosts and accelerators work on one shared model, first come, first served. A
 * host's threads update it without locks, a row each; an accelerator computes on a copy with a
 * large batch, and its update is added.
 *
 * ```text
 * host, each thread:   w <- w − η ∇ℓ(w; row)
 * accelerator:         w_i <- w;  g <- Σ∇ℓ(w_i; b rows);  w <- w − η·g/b
 * epoch's end:         all wait
 * ```
 *
 * The learning rate is the same for all and not scaled with the batch. Roles and threads are the
 * devices' (`DeviceInfo`). With `accelerate: "overwrite"` the accelerator steps on its copy, which
 * then takes the model's place: rows that hosts trained meanwhile count as trained, their effect is
 * gone. `add` needs plain SGD.
 *
 * Queue depth: one: an accelerator's copy would get stale in a queue, and first come, first served
 * has whoever is free first take what is next. A host's messages hold several batches instead.
 *
 * Source: paper C (arXiv 2004.08771), CPU+GPU Hogbatch; the size of messages is ours, and so is
 * adding, where the authors' code overwrites.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function hogbatch(options: HogbatchOptions): Policy<SharedModelState> {
  const settings = resolveOptions(hogbatchOptions, options);
  const { acceleratorBatch, accelerate, messageRows, roundRows } = settings;
  const most = Math.max(acceleratorBatch ?? largestAutomatic, messageRows);
  const acceleratorRows = (rows: number) =>
    acceleratorBatch ?? Math.min(largestAutomatic, Math.max(1, Math.floor(rows / 16)));
  return sharedModelPolicy({
    name: "hogbatch",
    settings: resolveRun(options),
    maxBatchRows: most,
    roundRows,
    models: (devices) => hogbatchModels(devices, accelerate),
    queueDepth: 1,
    epochBarrier: true,
    batchRows: ({ role, threads, maxBatchRows }, rows) =>
      Math.min(role === "accelerator" ? acceleratorRows(rows) : threads, maxBatchRows, most),
    order: (device) => orderFor(device, accelerate, messageRows),
  });
}
