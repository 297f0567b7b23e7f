import type { DeviceId } from "./contract.js";

/** What a policy reports for the event stream after each merge. */
export interface MergeReport {
  readonly type: "merge";
  /** Counts merges from 1. */
  readonly merge: number;
  /** Epochs of which every row is trained now. */
  readonly epoch: number;
  /** Rows trained since the previous merge. */
  readonly rows: number;
  readonly devices: readonly {
    readonly device: DeviceId;
    /** u_i of the mega-batch. */
    readonly updates: number;
    readonly rows: number;
    /** b_i during the mega-batch, and from now on. */
    readonly batchRows: number;
    readonly nextBatchRows: number;
    /** η_i at its last step, for a full batch of b_i rows; a short one's rate may be less. */
    readonly learningRate: number;
    /** p_i. */
    readonly weight: number;
  }[];
  readonly perturbed: boolean;
  readonly momentum: number;
}

/**
 * What all other policies report, round by round. A round is an update of the global model, a merge
 * of replicas, or (lock-free algorithms) simply a number of rows: each policy says which.
 */
export interface RoundReport {
  readonly type: "round";
  /** Counts rounds from 1. */
  readonly round: number;
  /** Epochs of which every row is trained now. */
  readonly epoch: number;
  /** Rows trained in this round. */
  readonly rows: number;
  readonly devices: readonly RoundReportDevice[];
}

/** A device's part in a round. */
export interface RoundReportDevice {
  readonly device: DeviceId;
  readonly updates: number;
  /** Its part of all devices' updates, 0 to 1. */
  readonly share: number;
  readonly rows: number;
  /** Rows of its batches in this round, and from now on. */
  readonly batchRows: number;
  readonly nextBatchRows: number;
  /** η at its last batch. */
  readonly learningRate: number;
  /**
   * The coefficient of its work where work is weighed: of its replica in a mean, or its part of the
   * rows that a gradient is the mean of. Null where each update counts by itself.
   */
  readonly weight: number | null;
  /**
   * Mean number of updates of the global model between the parameters that its gradients were
   * computed at and those that they were added to. Null where nobody can tell (lock-free steps).
   */
  readonly staleness: number | null;
  /** Seconds that it was busy with these rows. */
  readonly seconds: number;
}

/** An epoch's last row has been trained on. */
export interface EpochReport {
  readonly type: "epoch";
  /** Counts from 0. */
  readonly epoch: number;
}

export type Report = MergeReport | RoundReport | EpochReport;
