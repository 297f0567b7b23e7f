import type { Metrics } from "@heterosgd/model";
import { TrainerError } from "../errors.js";

/** A value to reach on the evaluation set, after which a run stops. */
export interface Target {
  readonly metric: "P" | "nDCG" | "R";
  readonly k: number;
  readonly atLeast: number;
}

/**
 * Reads a target such as `P@1>=0.6`.
 *
 * @throws TrainerError BAD_OPTION
 */
export function parseTarget(text: string): Target {
  const match = /^\s*(P|nDCG|R)@(\d+)\s*>=\s*(0?\.\d+|0|1(?:\.0*)?)\s*$/.exec(text);
  if (!match) {
    throw new TrainerError(
      "BAD_OPTION",
      `cannot read the target "${text}"; expected P@k, nDCG@k or R@k, then >= and a number from 0 to 1, e.g. P@1>=0.6`,
    );
  }
  return { metric: match[1] as Target["metric"], k: Number(match[2]), atLeast: Number(match[3]) };
}

/**
 * Refuses a target that cannot be seen. @throws TrainerError BAD_OPTION if its cut-off is not among
 * those computed.
 */
export function requireCutoff({ metric, k }: Target, cutoffs: readonly number[]): void {
  if (cutoffs.includes(k)) return;
  throw new TrainerError(
    "BAD_OPTION",
    `${metric}@${k} is not computed in this run; its cut-offs are ${cutoffs.join(", ")}`,
  );
}

/**
 * The metric's value. @throws TrainerError BAD_OPTION if the cut-off is not among those computed.
 */
export function metricValue(metrics: Metrics, target: Target): number {
  requireCutoff(target, metrics.cutoffs);
  const values = { P: metrics.precision, nDCG: metrics.ndcg, R: metrics.recall }[target.metric];
  return values[metrics.cutoffs.indexOf(target.k)]!;
}
