import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EndRecord, EvaluationRecord, RunEvent, StartRecord } from "@heterosgd/trainer";

const root = new URL("../../../", import.meta.url);
/** The built command. */
export const commandFile = fileURLToPath(new URL("packages/cli/dist/main.js", root));

/** The folder of real data sets: as told, else `HETEROSGD_DATA`, else beside the repository. */
export function dataFolder(told?: string): string {
  const folder =
    told ?? process.env["HETEROSGD_DATA"] ?? fileURLToPath(new URL("../shared/data", root));
  if (!existsSync(folder)) {
    throw new Error(`there is no data folder ${folder}; name it with --data or HETEROSGD_DATA`);
  }
  return folder;
}

/** A finished run of `heterosgd train` or `heterosgd simulate`; the latter's times are simulated. */
export interface FinishedRun {
  readonly start: StartRecord & { readonly at: number };
  readonly evaluations: readonly (EvaluationRecord & { readonly at: number })[];
  readonly merges: readonly MergeRecord[];
  readonly rounds: readonly RoundRecord[];
  /** What devices trained on, in the order in which it was done. */
  readonly done: readonly DoneRecord[];
  readonly end: EndRecord;
  /** From the run's start to its end, workers' start included, reading the data left out. */
  readonly seconds: number;
}

export type MergeRecord = Extract<RunEvent, { type: "merge" }>;
type RoundRecord = Extract<RunEvent, { type: "round" }>;
export type DoneRecord = Extract<RunEvent, { type: "done" }>;

/** The command has failed. */
export class CommandFailure extends Error {
  /** What it printed on stderr. */
  readonly complaints: string;

  constructor(message: string, complaints: string) {
    super(message);
    this.name = "CommandFailure";
    this.complaints = complaints;
  }
}

/** The command's version. */
export function commandVersion(): string {
  const manifest = readFileSync(new URL("packages/cli/package.json", root), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * Runs `heterosgd train` with these arguments in a folder that is removed afterwards.
 *
 * @param environment - added to this process's.
 * @throws CommandFailure with what the command printed, if it fails.
 */
export function trainByCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FinishedRun> {
  return runByCommand("train", args, environment);
}

/**
 * The same of either verb.
 *
 * @param signal - ends the command, whose reason is then thrown when the command is gone.
 * @throws CommandFailure
 */
export async function runByCommand(
  verb: "train" | "simulate",
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<FinishedRun> {
  signal?.throwIfAborted();
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-"));
  try {
    const child = spawn(
      process.execPath,
      [commandFile, verb, ...args, "--out", join(folder, "run"), "--quiet", "--json"],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...environment } },
    );
    const stop = () => child.kill();
    signal?.addEventListener("abort", stop);
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    const [code] = (await once(child, "close")) as [number | null];
    signal?.removeEventListener("abort", stop);
    signal?.throwIfAborted();
    if (code !== 0) {
      const what = `heterosgd ${verb} ${args.join(" ")} failed (${code}): ${complaints}`;
      throw new CommandFailure(what, complaints);
    }
    return readRun(readFileSync(join(folder, "run", "events.jsonl"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads an event stream. */
function readRun(text: string): FinishedRun {
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent);
  const all = <T extends RunEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
  const [start] = all("start");
  const [end] = all("end");
  if (start === undefined || end === undefined) throw new Error("the run did not come to its end");
  return {
    start,
    evaluations: all("evaluation"),
    merges: all("merge"),
    rounds: all("round"),
    done: all("done"),
    end,
    seconds: end.at - start.at,
  };
}

/** The last evaluation's P@1. */
export function finalPrecision(run: FinishedRun): number {
  const last = run.evaluations.at(-1);
  if (last === undefined) throw new Error("the run was not evaluated");
  return last.metrics.precision[0]!;
}
