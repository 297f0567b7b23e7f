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
  /** p_i, for the parameters. They sum to 1 unless `perturbed`. */
  readonly weights: readonly number[];
  /** For the optimiser's state: normalised, never perturbed. They sum to 1. */
  readonly stateWeights: readonly number[];
  readonly perturbed: boolean;
}

/** How replicas become one model: `w' = Σ p_i w_i + γ (w̄ − w̄⁻)`. */
export interface MergeRule {
  /** Whether `weigh` needs the replicas' norms. */
  readonly needsNorm: boolean;
  /** γ. If 0, the previous global model is not needed. */
  readonly momentum: number;
  /**
   * Weighs at least one replica.
   *
   * @param parameters - |w|, the number of parameters of the network.
   * @throws {@link MergeError} `NO_REPLICAS`, `MISSING_NORM`.
   */
  readonly weigh: (replicas: readonly MergeReplica[], parameters: number) => MergeWeights;
}

/** Options of the normalised merge. */
export interface NormalizedMergeOptions {
  /**
   * δ: the busiest replica's weight grows and the idlest's shrinks by this share. 0 to 1; 0
   * switches it off.
   */
  readonly perturbation?: number;
  /** θ: weights are perturbed only while every ‖w_i‖₂/|w| is below it. At least 0. */
  readonly normThreshold?: number;
  /** γ: how much of the global model's previous move is added. 0 (off) to below 1. */
  readonly momentum?: number;
}
