import type { DeviceSummary } from "@heterosgd/trainer";
import type { Environment } from "../environment.js";
import type { FinishedRun } from "../run-command.js";
import type { PlannedRun } from "./plan.js";

/** One evaluation of a run, and how training went since the one before. */
export interface CurvePoint {
  /** Seconds since the run began, simulated where the run is. */
  readonly at: number;
  /** Training rows done until then. */
  readonly rows: number;
  readonly precision: readonly number[];
  readonly ndcg: readonly number[];
  /** Mean training loss a row since the evaluation before; null if there were no rows. */
  readonly loss: number | null;
}

export interface RunResult {
  readonly reason: string;
  readonly cutoffs: readonly number[];
  readonly curve: readonly CurvePoint[];
  readonly devices: readonly DeviceSummary[];
  readonly trainRows: number;
  /** The run's own, simulated where it is. */
  readonly seconds: number;
}

/** One JSON file of a folder of results. */
export interface RunRecord extends Omit<PlannedRun, "args"> {
  readonly format: 1;
  readonly suite: string;
  /** To be copied; `$HETEROSGD_DATA` is the data folder. */
  readonly command: string;
  readonly environment: Environment;
  readonly versions: { readonly heterosgd: string; readonly node: string };
  readonly startedAt: string;
  /** What it took here, by the clock: reading and evaluating included. */
  readonly wallSeconds: number;
  /** How many runs were under way at once. */
  readonly jobs: number;
  /** Why training went astray; null if it did not. */
  readonly diverged: string | null;
  /** Null if it diverged. */
  readonly result: RunResult | null;
}

/** What is kept of a run. */
export function resultOf({ start, evaluations, done, end, seconds }: FinishedRun): RunResult {
  let next = 0;
  const curve = evaluations.map(({ at, rows, metrics }): CurvePoint => {
    let loss = 0;
    let count = 0;
    for (; next < done.length && done[next]!.at <= at; next++) {
      loss += done[next]!.loss;
      for (const range of done[next]!.rows) count += range.count;
    }
    return {
      at: at - start.at,
      rows,
      precision: metrics.precision,
      ndcg: metrics.ndcg,
      loss: count === 0 ? null : loss / count,
    };
  });
  return {
    reason: end.reason,
    cutoffs: evaluations[0]?.metrics.cutoffs ?? [],
    curve,
    devices: end.devices,
    trainRows: start.trainRows,
    seconds,
  };
}

/** The command as a record tells it. */
export function commandOf({ verb, args }: PlannedRun, data: string | null): string {
  const words = args.map((word) =>
    data !== null && word.startsWith(data) ? `$HETEROSGD_DATA${word.slice(data.length)}` : word,
  );
  return ["heterosgd", verb, ...words].join(" ");
}

/** The highest P@1 of a run; null if it diverged or was not evaluated. */
export function bestPrecision({ result }: Pick<RunRecord, "result">): number | null {
  if (result === null || result.curve.length === 0) return null;
  return Math.max(...result.curve.map(({ precision }) => precision[0]!));
}

/** When a run first was evaluated at this P@1 or better; null if never. */
export function secondsTo(precision: number, { result }: Pick<RunRecord, "result">): number | null {
  return result?.curve.find((point) => point.precision[0]! >= precision)?.at ?? null;
}
