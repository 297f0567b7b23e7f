/** What is held against each other: algorithms, or settings of one, each with a run a seed. */
import type { RunSeries, Usage } from "./run-series.js";

/** An evaluation, as comparisons need it. */
export interface CurvePoint {
  /** Seconds since training began, simulated where the run is. */
  readonly at: number;
  /** Training rows done until then. */
  readonly rows: number;
  /** P@1. */
  readonly precision: number;
  /** Mean training loss a row since the evaluation before; null where nobody has said. */
  readonly loss: number | null;
}

/** What a device has contributed to a run. */
export interface DeviceTotals {
  readonly name: string;
  readonly rows: number;
  readonly updates: number;
  readonly usage: Usage | null;
  /** Mean over its updates; null where nobody can tell. */
  readonly staleness: number | null;
}

export interface ContestantRun {
  readonly seed: number | null;
  readonly seconds: number;
  /** By time. */
  readonly curve: readonly CurvePoint[];
  readonly devices: readonly DeviceTotals[];
}

/** Runs that differ in nothing but the seed. */
export interface Contestant {
  readonly name: string;
  readonly isSimulated: boolean;
  readonly runs: readonly ContestantRun[];
}

/** Runs as contestants: those with the same name are the seeds of one. */
export function contestantsOf(runs: readonly RunSeries[]): readonly Contestant[] {
  const groups = new Map<string, RunSeries[]>();
  for (const run of runs) groups.set(run.name, [...(groups.get(run.name) ?? []), run]);
  return [...groups].map(([name, own]) => ({
    name,
    isSimulated: own.some(({ simulated }) => simulated !== null),
    runs: own.map((run) => ({
      seed: run.seed,
      seconds: run.seconds,
      curve: run.evaluations.map(({ at, rows, precision }) => ({
        at,
        rows,
        precision: precision[0] ?? 0,
        loss: null,
      })),
      devices: run.devices.map(({ name: device, rows, updates, usage, meanStaleness }) => ({
        name: device,
        rows,
        updates,
        usage,
        staleness: meanStaleness,
      })),
    })),
  }));
}

/** The highest P@1 of a run; null if it was never evaluated. */
export function bestOf({ curve }: Pick<ContestantRun, "curve">): number | null {
  return curve.length === 0
    ? null
    : curve.reduce((best, { precision }) => Math.max(best, precision), 0);
}

/** When a run was first evaluated at this P@1 or better; infinite if never. */
export function secondsTo(precision: number, { curve }: Pick<ContestantRun, "curve">): number {
  return curve.find((point) => point.precision >= precision)?.at ?? Infinity;
}

/** The middle value, of an even number the one below the middle, as the mean may not be finite; NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
}
