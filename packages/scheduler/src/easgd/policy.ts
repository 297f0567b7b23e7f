import type { Policy } from "../contract.js";
import { nonZero, replicaTerms, replicasOf } from "../common/models.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { Blend, RoundMerge, RoundResult, RoundState } from "../rounds/algorithm.js";
import { roundPolicy } from "../rounds/policy.js";

interface OwnOptions {
  /** b, rows of every batch. 128 if left out. */
  readonly batch?: number;
  /** τ, steps of each device between two pulls of the elastic. 10 if left out. */
  readonly mergeEvery?: number;
  /** β = n·α, how far the centre moves to the replicas' mean. 0.9 if left out. */
  readonly elasticity?: number;
}

/** Options of `easgd`. */
export interface EasgdOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const easgdOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  mergeEvery: {
    kind: "count",
    default: 10,
    min: 1,
    help: "Steps that each device makes between two exchanges with the centre.",
  },
  elasticity: {
    kind: "number",
    default: 0.9,
    above: 0,
    max: 1,
    help: "How far the centre moves to the mean of the replicas; a replica moves by 1/n of it.",
  },
} as const satisfies OptionTable<OwnOptions>;

/**
 * EASGD, synchronous: replicas live on, tied to the centre x̃ by an elastic force; x̃ is the model.
 *
 * ```text
 * start:   x_i <- x̃
 * round:   τ times: x_i <- x_i − η · Σ∇ℓ(x_i; b rows)/b
 * all in:  d_i = α (x_i − x̃);   x_i <- x_i − d_i;   x̃ <- x̃ + Σ d_i         α = β/n
 * ```
 *
 * Both from the values before: the centre's successor is blended first, then the replicas with the
 * old centre. Replicas drift apart between merges, and the centre has only β of their move: rows
 * count as trained once they were merged, also if the replica is lost later. A device that joins
 * starts at the centre.
 *
 * Queue depth: two batches: a replica is its device's own. A round is one merge.
 *
 * Source: Zhang, Choromanska, LeCun, Deep Learning with Elastic Averaging SGD (2015), a baseline of
 * paper A; what happens to short batches is ours.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function easgd(options: EasgdOptions): Policy<RoundState> {
  const { batch, mergeEvery, elasticity } = resolveOptions(easgdOptions, options);
  return roundPolicy({
    name: "easgd",
    settings: resolveRun(options),
    batchRows: batch,
    maxBatchRows: batch,
    models: (devices) => ["global", "next", ...replicasOf(devices)],
    work: "replica",
    keepsReplicas: true,
    turns: () => mergeEvery,
    merge: (result) => pullTogether(result, elasticity),
    rotation: ["global", "next"],
  });
}

function pullTogether({ devices }: RoundResult, elasticity: number): RoundMerge {
  const alpha = elasticity / devices.length;
  const replicas = replicaTerms(devices, alpha);
  const terms = nonZero([{ model: "global", coefficient: 1 - elasticity }, ...replicas]);
  const centre: Blend = { target: "next", terms, stateTerms: terms };
  const back = devices.map(({ id }): Blend => ({
    target: `replica:${id}`,
    terms: nonZero([
      { model: `replica:${id}`, coefficient: 1 - alpha },
      { model: "global", coefficient: alpha },
    ]),
    stateTerms: [{ model: `replica:${id}`, coefficient: 1 }],
  }));
  return { stages: [[centre], back], weights: devices.map(() => alpha) };
}
