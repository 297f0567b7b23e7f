/**
 * The shape of a merge rule. `@heterosgd/merge` has the rules; this package only asks them, and
 * knows them by their structure, so that neither package needs the other.
 */

/** What a merge rule knows of one replica. */
export interface MergeReplica {
  /** u_i, the updates it made since the previous merge. */
  readonly updates: number;
  /** b_i, rows of its batches since the previous merge. */
  readonly batchRows: number;
  /** ‖w_i‖₂, null where it was not measured. */
  readonly norm: number | null;
}

/** The coefficients of one merge, in the order of the replicas. */
export interface MergeWeights {
  /** p_i, for the parameters. */
  readonly weights: readonly number[];
  /** For the optimiser's state; they sum to 1. */
  readonly stateWeights: readonly number[];
  readonly perturbed: boolean;
}

/** How replicas become one model: `w' = Σ p_i w_i + γ (w̄ − w̄⁻)`. */
export interface MergeRule {
  /** Whether `weigh` needs the replicas' norms. */
  readonly needsNorm: boolean;
  /** γ. If 0, the previous global model is not kept. */
  readonly momentum: number;
  /** Weighs at least one replica; `parameters` is |w|. */
  readonly weigh: (replicas: readonly MergeReplica[], parameters: number) => MergeWeights;
}
