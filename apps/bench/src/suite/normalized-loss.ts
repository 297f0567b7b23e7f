import type { RunRecord } from "./run-record.js";

/**
 * A run's training loss at a time, divided by the lowest that any of the runs reaches: what the
 * charts of CPU+GPU Hogbatch (arXiv 2004.08771) show. The loss at a time is the mean over the rows
 * between the last two evaluations until then.
 *
 * @param at - seconds since the run began.
 * @returns 1 at the lowest; null before the first evaluation, and where the run diverged.
 */
export function normalizedLoss(
  { result }: Pick<RunRecord, "result">,
  at: number,
  runs: readonly Pick<RunRecord, "result">[],
): number | null {
  const loss = result?.curve.findLast((point) => point.at <= at && point.loss !== null)?.loss;
  const lowest = Math.min(
    ...runs.flatMap((run) => run.result?.curve.map((point) => point.loss ?? Infinity) ?? []),
  );
  return loss === undefined || loss === null ? null : loss / lowest;
}
