/** A long run with everything in it, and whether its process grows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";
import { describeEnvironment, environment } from "../environment.js";
import { CommandFailure, commandFile } from "../run-command.js";
import { parseStatus } from "../step/process-memory.js";
import { killerModule } from "./kill-devices.js";
import { trendOf, type Sample, type Trend } from "./trend.js";

export interface SoakOptions {
  /** Default 30. */
  readonly minutes?: number;
  /** Further arguments of `heterosgd train`; they win. */
  readonly options?: readonly string[];
  readonly json?: boolean;
}

/** The start, in seconds, in which the interpreters' heaps come to their size. It does not count. */
const WARM_UP = 240;
/** Minutes that leave enough beside it. */
const LEAST = 8;
/** Seconds between two looks. */
const EVERY_SECONDS = 2;
/** Deaths of devices: more would use up the patience with either of the two. */
const DEATHS = 12;

/** How often something occurred in the run, by what it is. */
interface Counts {
  readonly merges: number;
  readonly evaluations: number;
  readonly checkpoints: number;
  readonly lost: number;
  readonly joined: number;
  readonly rows: number;
}

/** @throws CommandFailure with what the command printed, if it fails. */
export async function soak({
  minutes = 30,
  options = [],
  json = false,
}: SoakOptions): Promise<void> {
  if (!(minutes >= LEAST)) {
    throw new Error(`a soak takes at least ${LEAST} minutes, not ${minutes}`);
  }
  const where = environment();
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-soak-"));
  const seconds = minutes * 60;
  const fixed =
    `train --sample --devices cpu,cpu@0.5 --epochs 1000000 --max-time ${seconds}s ` +
    "--evaluate-every merge --checkpoint-every 10s --device-retries 20";
  const args = [...fixed.split(" "), ...options];
  try {
    const deaths = join(folder, "deaths");
    const run = join(folder, "run");
    const hook = killerModule(seconds / (DEATHS + 1), deaths);
    const samples = await watch(["--import", hook, commandFile, ...args, "--out", run, "--quiet"]);
    const began = samples[0]!.at;
    const settled = samples.filter(({ at }) => at - began >= WARM_UP);
    const trend = trendOf(settled);
    const counts = countsOf(readFileSync(join(run, "events.jsonl"), "utf8"));
    const killed = existsSync(deaths)
      ? readFileSync(deaths, "utf8").trimEnd().split("\n").length
      : 0;
    const command = ["heterosgd", ...args].join(" ");
    if (json) {
      const document = { command, environment: where, minutes, killed, counts, trend, samples };
      console.log(JSON.stringify(document, null, 2));
      return;
    }
    for (const line of describe(trend, counts, killed, samples)) console.log(line);
    console.log(`${command}; ${describeEnvironment(where)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs Node and looks now and then at how much memory its process holds. */
async function watch(args: readonly string[]): Promise<readonly Sample[]> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const samples: Sample[] = [];
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      samples.push({ at: performance.now() / 1000, value: parseStatus(status).now });
    } catch {
      // It has just ended.
    }
  }, EVERY_SECONDS * 1000);
  const interrupt = () => void child.kill();
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code === 0) return samples;
    throw new CommandFailure(`heterosgd failed (${code}): ${complaints}`, complaints);
  } finally {
    clearInterval(timer);
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

function countsOf(events: string): Counts {
  const counts = { merges: 0, evaluations: 0, checkpoints: 0, lost: 0, joined: 0, rows: 0 };
  for (const line of events.trimEnd().split("\n")) {
    const event = JSON.parse(line) as RunEvent;
    if (event.type === "merge") counts.merges++;
    else if (event.type === "evaluation") counts.evaluations++;
    else if (event.type === "saved") counts.checkpoints++;
    else if (event.type === "lost") counts.lost++;
    else if (event.type === "joined") counts.joined++;
    if (event.type === "evaluation") counts.rows = event.rows;
  }
  return counts;
}

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

function describe(
  { first, last, slope, error, verdict }: Trend,
  { merges, evaluations, checkpoints, lost, joined, rows }: Counts,
  killed: number,
  samples: readonly Sample[],
): readonly string[] {
  const values = samples.map(({ value }) => value);
  return [
    `${rows} rows, ${merges} merges, ${evaluations} evaluations, ${checkpoints} checkpoints; ` +
      `${killed} devices killed, ${lost} lost, ${joined} opened anew`,
    `resident memory after the first ${WARM_UP} s: median of the first third ${mebibytes(first)} MiB, ` +
      `of the last ${mebibytes(last)} MiB; highest of all ${mebibytes(Math.max(...values))} MiB`,
    `slope ${mebibytes(slope)} ± ${mebibytes(error)} MiB an hour: ${verdict}`,
  ];
}
