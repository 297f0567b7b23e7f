import type { Metrics } from "@heterosgd/model";
import type { StopReason } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";
import { metricValue, requireCutoff, type Target } from "./target.js";

/** When a run that gets no better ends. */
export interface Patience {
  /** Evaluations in a row without a new best that are put up with, at least 1. */
  readonly evaluations: number;
  /** What has to get better. Default: the target's metric, else P at the first cut-off. */
  readonly metric?: Pick<Target, "metric" | "k">;
}

export interface StopRules {
  readonly target?: Target;
  readonly patience?: Patience;
}

/** How many evaluations have brought no new best. */
export interface PatienceState {
  /** Null before the first. */
  readonly best: number | null;
  readonly without: number;
}

/** Looks at one evaluation after another. */
export interface StopWatch {
  /** Why the run is to end after this one, null to go on. */
  readonly look: (metrics: Metrics) => StopReason | null;
  readonly state: () => PatienceState;
}

/**
 * Says when a run is to end.
 *
 * @param since - where an earlier part of the run has come to.
 * @throws TrainerError BAD_OPTION if a cut-off is none of the run's, or the patience not a whole
 * number of at least 1.
 */
export function createStopRules(
  { target, patience }: StopRules,
  cutoffs: readonly number[],
  since: PatienceState = { best: null, without: 0 },
): StopWatch {
  const watched = patience?.metric ?? target ?? { metric: "P", k: cutoffs[0] ?? 1 };
  if (target !== undefined) requireCutoff(target, cutoffs);
  if (patience !== undefined) {
    const { evaluations } = patience;
    if (!(Number.isSafeInteger(evaluations) && evaluations >= 1)) {
      throw new TrainerError(
        "BAD_OPTION",
        `the patience is ${evaluations} evaluations; it must be a whole number of at least 1`,
      );
    }
    requireCutoff({ ...watched, atLeast: 0 }, cutoffs);
  }
  let { best, without } = since;
  return {
    look(metrics) {
      if (target !== undefined && metricValue(metrics, target) >= target.atLeast) return "target";
      if (patience === undefined) return null;
      const value = metricValue(metrics, { ...watched, atLeast: 0 });
      without = best === null || value > best ? 0 : without + 1;
      best = Math.max(best ?? value, value);
      return without >= patience.evaluations ? "patience" : null;
    },
    state: () => ({ best, without }),
  };
}
