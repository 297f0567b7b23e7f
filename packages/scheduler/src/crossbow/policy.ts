import type { Policy, Term } from "../contract.js";
import { globalState, nonZero, replicaTerms, replicasAndGradientsOf } from "../common/models.js";
import { resolveOptions } from "../common/options.js";
import type { OptionTable } from "../common/options.js";
import { resolveRun } from "../common/run.js";
import type { RunOptions } from "../common/run.js";
import type { Blend, RoundMerge, RoundResult, RoundState } from "../rounds/algorithm.js";
import { roundPolicy } from "../rounds/policy.js";

interface OwnOptions {
  /** b, rows of every batch. 128 if left out. */
  readonly batch?: number;
  /** μ, how much of its previous move the central model repeats. 0.9 if left out. */
  readonly momentum?: number;
  /** α, the correction of each replica towards the central model. 1/n if left out. */
  readonly correction?: number;
}

/** Options of `crossbow`. */
export interface CrossbowOptions extends RunOptions, OwnOptions {}

/** They, as data. */
export const crossbowOptions = {
  batch: { kind: "count", default: 128, min: 1, help: "Rows of every batch." },
  momentum: {
    kind: "number",
    default: 0.9,
    min: 0,
    below: 1,
    help: "How much of its previous move the central model repeats.",
  },
  correction: {
    kind: "number",
    default: null,
    above: 0,
    max: 1,
    help: "How far a replica is moved to the central model in each step. Automatic: 1/n.",
  },
} as const satisfies OptionTable<OwnOptions>;

/**
 * CROSSBOW's synchronous model averaging: replicas learn independently, corrected in each step
 * towards a central model z, which follows their corrections with momentum; z is the model.
 *
 * ```text
 * start:   w_i <- z
 * round:   g_i <- Σ∇ℓ(w_i; b rows)
 * all in:  c_i = α (w_i − z)
 *          w_i <- w_i − η·g_i/b − c_i;   z' = z + Σ c_i + μ (z − z⁻);   z⁻ <- z;   z <- z'
 * ```
 *
 * All from the values before: z's successor is blended first, then the replicas with the old z.
 * When a step schedule lowers η, all replicas restart at z, and z without momentum; a schedule that
 * falls all the time never restarts them. Gradients enter z a round after the replicas, so the run
 * ends with one more round without gradients, unless it is told to finish with the very model that
 * was evaluated. A device that joins starts at z. Needs plain SGD.
 *
 * Queue depth: one batch, a barrier after each. A round is one update of z.
 *
 * Source: Koliousis et al., CROSSBOW (2019), a baseline of paper A; short batches and the last
 * round are ours, as is that z is not computed beside the gradients.
 *
 * @throws {@link SchedulerError} as `adaptiveSgd` does.
 */
export function crossbow(options: CrossbowOptions): Policy<RoundState> {
  const { batch, momentum, correction } = resolveOptions(crossbowOptions, options);
  const settings = resolveRun(options);
  return roundPolicy({
    name: "crossbow",
    settings,
    batchRows: batch,
    maxBatchRows: batch,
    models: (devices) => ["global", "next", "previous", ...replicasAndGradientsOf(devices)],
    work: "gradient",
    keepsReplicas: true,
    turns: () => 1,
    restarts: (rate, before) => settings.schedule.kind === "step" && rate < before,
    merge: (result) => {
      const alpha = correction ?? 1 / result.devices.length;
      return average(result, alpha, result.restarted ? 0 : momentum, batch);
    },
    rotation: ["previous", "global", "next"],
    lags: true,
  });
}

function average(
  { devices, learningRate }: RoundResult,
  alpha: number,
  momentum: number,
  batchRows: number,
): RoundMerge {
  const centre: Blend = {
    target: "next",
    terms: nonZero([
      { model: "global", coefficient: 1 - devices.length * alpha + momentum },
      { model: "previous", coefficient: -momentum },
      ...replicaTerms(devices, alpha),
    ]),
    stateTerms: globalState,
  };
  const replicas = devices.map(({ id, updates }): Blend => {
    const gradient: Term = {
      model: `gradient:${id}:0`,
      coefficient: updates > 0 ? -learningRate / batchRows : 0,
    };
    return {
      target: `replica:${id}`,
      terms: nonZero([
        { model: `replica:${id}`, coefficient: 1 - alpha },
        { model: "global", coefficient: alpha },
        gradient,
      ]),
      stateTerms: [{ model: `replica:${id}`, coefficient: 1 }],
    };
  });
  return { stages: [[centre], replicas], weights: devices.map(() => alpha) };
}
