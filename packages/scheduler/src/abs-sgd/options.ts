import { resolveOptions } from "../common/options.js";
import type { OptionTable, SettingsOf } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions, RunSettings } from "../common/run.js";

interface OwnOptions {
  /** q, rows of a micro-batch. 32 if left out. */
  readonly microBatch?: number;
  /** η_t = schedule(t), or schedule(t)·Σc/B_ref. "fixed" if left out. */
  readonly learningRateRule?: "fixed" | "linear";
  /** B_ref of the linear rule, rows. A micro-batch of each device if left out. */
  readonly batchReference?: number;
  /** μ, momentum on the averaged gradient. 0 if left out. */
  readonly momentum?: number;
}

/** Options of `absSgd`. */
export interface AbsSgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const absSgdOptions = {
  microBatch: {
    kind: "count",
    default: 32,
    min: 1,
    help: "Rows of a micro-batch, after each of which a device can take part in a reduction.",
  },
  learningRateRule: {
    kind: "choice",
    default: "fixed",
    choices: ["fixed", "linear"],
    help: "Learning rate of an update. linear: in proportion to the rows that its gradient is of.",
  },
  batchReference: {
    kind: "count",
    default: null,
    min: 1,
    help: "Rows that the linear rule's rate is meant for. Automatic: a micro-batch of each device.",
  },
  momentum: {
    kind: "number",
    default: 0,
    min: 0,
    below: 1,
    help: "Momentum on the averaged gradient.",
  },
} as const satisfies OptionTable<OwnOptions>;

export type Settings = RunSettings & SettingsOf<OwnOptions, typeof absSgdOptions>;

export function resolve(options: AbsSgdOptions): Settings {
  return { ...resolveRun(options), ...resolveOptions(absSgdOptions, options) };
}
