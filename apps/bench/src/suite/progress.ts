/** One line about how a suite is getting on: redrawn on a terminal, elsewhere one for each run. */
import { optionWords, type CellName, type PlannedRun } from "./plan.js";
import { bestPrecision, type RunRecord } from "./run-record.js";
import { durationWords, timeLeft, type Timed } from "./time-left.js";

export interface Progress {
  /** What is still to be run changes when tuning ends in nothing. */
  drop(runs: readonly CellName[]): void;
  finished(run: PlannedRun, record: RunRecord, isNew: boolean): void;
  note(text: string): void;
  close(): void;
}

export function showProgress(planned: readonly CellName[], jobs: number): Progress {
  const remaining = [...planned];
  const timed: Timed[] = [];
  let total = planned.length;
  let done = 0;
  let line = "";
  const redraws = process.stderr.isTTY;
  const clear = () => (redraws && line !== "" ? "\r\u001B[2K" : "");
  const remove = (run: CellName) => {
    const isAlike = (it: CellName) =>
      it.set === run.set && it.platform === run.platform && it.algorithm === run.algorithm;
    const at = remaining.findIndex(isAlike);
    if (at >= 0) remaining.splice(at, 1);
  };
  return {
    drop(runs) {
      total -= runs.length;
      for (const run of runs) remove(run);
    },
    finished(run, record, isNew) {
      done++;
      remove(run);
      timed.push({ ...run, wallSeconds: record.wallSeconds });
      if (!isNew) return;
      const left = timeLeft(remaining, timed, jobs);
      const next = `[${done}/${total}] ${runWords(run, record)}; ${
        left === null ? "" : `${durationWords(left)} left`
      }`;
      process.stderr.write(`${clear()}${next}${redraws ? "" : "\n"}`);
      line = next;
    },
    note(text) {
      process.stderr.write(`${clear()}${text}\n${redraws ? line : ""}`);
    },
    close() {
      if (redraws && line !== "") process.stderr.write("\n");
    },
  };
}

function runWords(run: PlannedRun, record: RunRecord): string {
  const { set, platform, algorithm, stage, tuned, seed } = run;
  const best = bestPrecision(record);
  const options = stage === "tuning" ? `, tuning ${optionWords(tuned)}` : "";
  const outcome =
    record.diverged !== null ? "diverged" : best === null ? "" : `best P@1 ${best.toFixed(4)}`;
  return `${set}, ${platform}, ${algorithm}${options}, seed ${seed}: ${outcome}, ${durationWords(record.wallSeconds)}`;
}
