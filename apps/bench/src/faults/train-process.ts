/** `heterosgd train` in a process of its own, which may not live to see its end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownFile } from "../own-files.js";

const command = fileURLToPath(ownFile("../../packages/cli/dist/main.js"));

/** A run that takes longer hangs. */
const LIMIT_MS = 300_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly seconds: number;
}

export interface Running {
  readonly ended: Promise<Ended>;
  isOver(): boolean;
  /** What it has written there until now. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
}

export interface ProcessOptions {
  /** Where it runs, and where its temporary files go. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whom it belongs to. Default: whoever runs this program. */
  readonly uid?: number;
  /** Kills it after so many ms. */
  readonly killAfterMs?: number;
  /** Kills it when aborted; what waits for its end is then given the reason. */
  readonly signal: AbortSignal;
}

export function startTrain(args: readonly string[], options: ProcessOptions): Running {
  const { folder, environment = {}, uid, killAfterMs, signal: aborting } = options;
  aborting.throwIfAborted();
  const began = performance.now();
  const child = spawn(process.execPath, [command, "train", ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", TMPDIR: folder, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const end = () => child.kill("SIGKILL");
  const timers = [setTimeout(end, LIMIT_MS)];
  if (killAfterMs !== undefined) timers.push(setTimeout(end, killAfterMs));
  aborting.addEventListener("abort", end);
  let stderr = "";
  let isOver = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));

  async function untilEnd(): Promise<Ended> {
    try {
      const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
      aborting.throwIfAborted();
      const seconds = (performance.now() - began) / 1000;
      if (seconds * 1000 >= LIMIT_MS) stderr += `\nit had not ended after ${LIMIT_MS / 1000} s`;
      return { code, signal, stderr, seconds };
    } finally {
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      aborting.removeEventListener("abort", end);
    }
  }
  return {
    ended: untilEnd(),
    isOver: () => isOver,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs the command to its end, whichever that is. */
export function runTrain(args: readonly string[], options: ProcessOptions): Promise<Ended> {
  return startTrain(args, options).ended;
}

/** Has a process preload one of this package's hooks, in each of its threads. */
export function preloading(
  hook: "break-device" | "kill-process",
  plan: object,
): Readonly<Record<string, string>> {
  const variable = hook === "break-device" ? "BENCH_BREAK" : "BENCH_KILL";
  const preload = `--import=${ownFile(`hooks/${hook}.mjs`).href}`;
  const options = [process.env["NODE_OPTIONS"] ?? "", preload].join(" ").trim();
  return { NODE_OPTIONS: options, [variable]: JSON.stringify(plan) };
}

/** What a hook has left behind, which is removed; null if nothing. */
export function takeMark(mark: string): unknown {
  if (!existsSync(mark)) return null;
  const left: unknown = JSON.parse(readFileSync(mark, "utf8"));
  rmSync(mark);
  return left;
}
