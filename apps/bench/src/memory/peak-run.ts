/** Runs of the command, and what its process held at most. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryEstimate } from "@heterosgd/trainer";
import { CommandFailure, commandFile } from "../run-command.js";
import { parseStatus } from "../step/process-memory.js";

export type Verb = "train" | "simulate";

/** What `--dry-run` said would be taken, and what was, in bytes. */
export interface PeakRun {
  readonly estimate: MemoryEstimate;
  readonly peak: number;
  readonly seconds: number;
}

/**
 * Plans a run, then carries it out, each in a process of its own.
 *
 * @param args - of `heterosgd VERB`, the folder of the run left out.
 * @throws CommandFailure with what the command printed, if it fails.
 */
export async function measurePeak(verb: Verb, args: readonly string[]): Promise<PeakRun> {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-memory-"));
  try {
    const all = [verb, ...args, "--out", join(folder, "run"), "--quiet", "--json"];
    const plan = JSON.parse(await runNode([commandFile, ...all, "--dry-run"])) as {
      readonly memory: MemoryEstimate;
    };
    const status = join(folder, "status");
    const began = performance.now();
    await runNode(["--import", statusAtExit(status), commandFile, ...all]);
    const seconds = (performance.now() - began) / 1000;
    const { peak } = parseStatus(readFileSync(status, "utf8"));
    return { estimate: plan.memory, peak, seconds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A module that leaves the process's status in a file when it ends: afterwards nobody knows it. */
export function statusAtExit(path: string): string {
  const source =
    'import { readFileSync, writeFileSync } from "node:fs";' +
    'process.on("exit", () => {' +
    `writeFileSync(${JSON.stringify(path)}, readFileSync("/proc/self/status"));` +
    "});";
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** Runs Node with these arguments and returns what it wrote to stdout. */
async function runNode(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return stdout;
  throw new CommandFailure(`node ${args.join(" ")} failed (${code}): ${complaints}`, complaints);
}
