/**
 * What `bench step` and the processes that it compares say to each other: one JSON object a line. A
 * process begins with `Ready` or `Unable`, then answers questions in turn. peers/torch-step.py
 * speaks the same.
 */

export interface Ready {
  /** What runs. */
  readonly ready: string;
  /** Bytes that its documentation says it needs; left out where nothing does. */
  readonly documented?: number;
}

export interface Unable {
  readonly missing: string;
}

export interface StepsQuestion {
  readonly steps: number;
  readonly learningRate: number;
  /** Number of the batch that every step uses, null for all in turn. */
  readonly batch: number | null;
}

export interface StepsAnswer {
  /** Seconds of all steps. */
  readonly wall: number;
  /** Processor time of the whole process in seconds. */
  readonly cpu: number;
  /** Mean loss of a row before each step. */
  readonly losses: readonly number[];
}

export interface MemoryQuestion {
  readonly memory: true;
}

export interface MemoryAnswer {
  /** Resident bytes before the data was read. */
  readonly baseline: number;
  /** The most resident bytes so far. */
  readonly peak: number;
}
