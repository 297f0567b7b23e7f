/** What is told of one training run, whoever made it. */

/** How far it was after an epoch. */
export interface Milestone {
  /** Rows trained on until then. */
  readonly rows: number;
  /** Of training until then; reading, starting and evaluations are left out. */
  readonly seconds: number;
  /** P@1 on the test rows; null where nobody asked. */
  readonly precision: number | null;
}

export interface Outcome {
  readonly milestones: readonly Milestone[];
  /** The most resident memory of the process in bytes, null where it cannot be had. */
  readonly peak: number | null;
  /** Whether it was stopped before its last epoch since it took too long. */
  readonly stopped: boolean;
}

/** How all train. */
export interface Settings {
  readonly threads: number;
  readonly batch: number;
  readonly hidden: number;
  readonly epochs: number;
  /** The learning rate at the start. */
  readonly rate: number;
  /** Of training, after which a run is stopped. */
  readonly maxSeconds: number;
}

export function rowsPerSecond({ milestones }: Outcome): number {
  const { rows = 0, seconds = 1 } = milestones.at(-1) ?? {};
  return rows / seconds;
}

/** The highest P@1, null where nothing was evaluated. */
export function bestPrecision({ milestones }: Outcome): number | null {
  const known = milestones.flatMap(({ precision }) => precision ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** Seconds of training until the first evaluation that reaches a P@1; Infinity if none does. */
export function secondsTo(precision: number, { milestones }: Outcome): number {
  const first = milestones.find((one) => (one.precision ?? -1) >= precision);
  return first?.seconds ?? Infinity;
}
