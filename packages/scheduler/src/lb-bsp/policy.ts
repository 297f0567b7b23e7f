import { apportion } from "../common/apportion.js";
import type { Policy } from "../contract.js";
import { replicasAndGradientsOf } from "../common/models.js";
import { sum } from "../common/numbers.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import { requireOption } from "../errors.js";
import type { RoundDevice, RoundState } from "../rounds/algorithm.js";
import { gradientMerge } from "../rounds/gradient-merge.js";
import { roundPolicy } from "../rounds/policy.js";
import { countRows } from "../row-queue.js";

interface OwnOptions {
  /** b, rows of a device's batch at the start and in the mean. 128 if left out. */
  readonly batch?: number;
  /** The most rows that a device's batch can grow to, at least b. 4·b if left out. */
  readonly batchMax?: number;
  /** How much the latest round counts for the speed, the rest being the past. 0.5 if left out. */
  readonly smoothing?: number;
}

/** Options of `lbBsp`. */
export interface LbBspOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const lbBspOptions = {
  batch: {
    kind: "count",
    default: 128,
    min: 1,
    help: "Rows of a batch, in the mean of all devices.",
  },
  batchMax: {
    kind: "count",
    default: null,
    min: 1,
    help: "Largest batch of a device. Automatic: four times the mean.",
  },
  smoothing: {
    kind: "number",
    default: 0.5,
    above: 0,
    max: 1,
    help: "How much the latest round counts for the predicted speed; the rest is the past.",
  },
} as const satisfies OptionTable<OwnOptions>;

/**
 * LB-BSP: synchronous SGD whose batches are re-sized at each barrier, so that all devices are
 * predicted to arrive at the next one together.
 *
 * ```text
 * round:   g_i <- Σ∇ℓ(w; b_i rows), for every i
 * all in:  w <- w − η · Σ (b_i/B) · g_i/b_i                    B = Σb_i = n·b
 *          v_i <- predicted rows a second;  b_i <- B · v_i / Σv, at least 1, at most batchMax
 * ```
 *
 * v_i follows from the seconds that devices say they were busy, smoothed exponentially. A device
 * that joins starts with b rows and the others' mean speed; after a loss B is n·b of those left.
 * Needs plain SGD.
 *
 * Queue depth: one batch, a barrier after each. A round is one update of the global model.
 *
 * Source: the baseline LB-BSP of paper B (Chen et al., Semi-Dynamic Load Balancing, 2020); the
 * prediction by smoothing, the bounds and what happens to short rounds are ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function lbBsp(options: LbBspOptions): Policy<RoundState> {
  const { batch, batchMax, smoothing } = resolveOptions(lbBspOptions, options);
  const most = batchMax ?? 4 * batch;
  requireOption(most >= batch, "batchMax", most, `at least batch, ${batch}`);
  return roundPolicy({
    name: "lb-bsp",
    settings: resolveRun(options),
    batchRows: batch,
    maxBatchRows: most,
    models: (devices) => ["global", "next", ...replicasAndGradientsOf(devices)],
    work: "gradient",
    keepsReplicas: false,
    turns: () => 1,
    pace: ({ pace, rows, seconds }) => {
      const latest = seconds / countRows(rows);
      if (!(latest > 0 && latest < Infinity)) return null;
      return pace === null ? latest : smoothing * latest + (1 - smoothing) * pace;
    },
    resize: (devices) => balanced(devices, batch, most),
    merge: gradientMerge,
    rotation: ["global", "next"],
  });
}

/** Sizes in proportion to the devices' speeds. */
function balanced(
  devices: readonly RoundDevice[],
  batchRows: number,
  most: number,
): readonly number[] {
  const known = devices.flatMap(({ pace }) => (pace === null ? [] : [1 / pace]));
  const mean = known.length === 0 ? 1 : sum(known, (speed) => speed) / known.length;
  const claims = devices.map(({ pace, maxBatchRows }) => ({
    weight: pace === null ? mean : 1 / pace,
    least: 1,
    most: Math.min(most, maxBatchRows),
  }));
  return apportion(batchRows * devices.length, claims);
}
