import { sum } from "../statistics.js";
import type { CellName } from "./plan.js";

/** A finished run, and what it took by the clock. */
export type Timed = CellName & { readonly wallSeconds: number };

/**
 * Seconds that the remaining runs will take, several at once: each as long as runs of its cell took
 * in the mean, or else of its set and platform, of its set, of all. Null before the first.
 */
export function timeLeft(
  remaining: readonly CellName[],
  finished: readonly Timed[],
  jobs: number,
): number | null {
  if (finished.length === 0) return remaining.length === 0 ? 0 : null;
  const times = remaining.map((run) => {
    const alike = [
      finished.filter((it) => sameCell(it, run)),
      finished.filter((it) => it.set === run.set && it.platform === run.platform),
      finished.filter((it) => it.set === run.set),
    ].find((candidates) => candidates.length > 0);
    const sample = alike ?? finished;
    return sum(sample.map(({ wallSeconds }) => wallSeconds)) / sample.length;
  });
  // No run can be shared out.
  return Math.max(sum(times) / jobs, ...times, 0);
}

export function sameCell(a: CellName, b: CellName): boolean {
  return a.set === b.set && a.platform === b.platform && a.algorithm === b.algorithm;
}

/** `45 s`, `12 min`, `1 h 5 min` */
export function durationWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
