/** heterosgd itself, by its command. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statusAtExit } from "../memory/peak-run.js";
import { trainByCommand, type FinishedRun } from "../run-command.js";
import { parseStatus } from "../step/process-memory.js";
import type { Outcome, Settings } from "./outcome.js";

/**
 * @param files - the arguments that name training and test rows.
 * @throws CommandFailure
 */
export async function runHeterosgd(
  files: readonly string[],
  devices: string,
  settings: Settings,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-peers-"));
  try {
    const status = join(folder, "status");
    const environment = { NODE_OPTIONS: `--import ${statusAtExit(status)}` };
    const run = await trainByCommand(argumentsOf(files, devices, settings), environment);
    return outcomeOf(run, peakIn(status));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function argumentsOf(
  files: readonly string[],
  devices: string,
  { batch, hidden, epochs, rate, maxSeconds }: Settings,
): readonly string[] {
  const options = {
    devices,
    batch,
    hidden,
    epochs,
    "learning-rate": rate,
    optimizer: "adam",
    "max-time": maxSeconds,
    "checkpoint-every": "never",
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return [...files, ...flags];
}

/** Null where the system keeps no such file. */
function peakIn(status: string): number | null {
  try {
    return parseStatus(readFileSync(status, "utf8")).peak;
  } catch {
    return null;
  }
}

/** What a run's events say, each evaluation taken to have lasted as long as the others. */
export function outcomeOf(
  { done, evaluations, end }: Pick<FinishedRun, "done" | "evaluations" | "end">,
  peak: number | null,
): Outcome {
  const [first] = done;
  const began = first === undefined ? 0 : first.at - first.seconds;
  const evaluating = Math.max(0, ...end.devices.map(({ usage }) => usage?.evaluating ?? 0));
  const each = evaluating / Math.max(1, evaluations.length);
  const milestones = evaluations.map(({ at, rows, metrics }, i) => ({
    rows,
    seconds: at - began - (i + 1) * each,
    precision: metrics.precision[0] ?? null,
  }));
  return { milestones, peak, stopped: end.reason === "time" };
}
