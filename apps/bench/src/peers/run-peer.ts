/** A peer's process: what it says, and what memory it takes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { parseStatus } from "../step/process-memory.js";

/** Between two looks at the memory, whose peak the system keeps as long as the process lives. */
const LOOK_MS = 50;

export interface PeerRun {
  readonly command: readonly [string, ...string[]];
  /** Added to this process's environment; undefined takes a variable away. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Told what comes on stdout and stderr, and since when it runs in seconds. */
  readonly onText: (stream: "stdout" | "stderr", text: string, seconds: number) => void;
  /** After which it is killed. */
  readonly maxSeconds: number;
}

export interface PeerEnd {
  /** Null if a signal ended it. */
  readonly code: number | null;
  /** Whether it was killed since it took too long. */
  readonly isLate: boolean;
  readonly seconds: number;
  /** The most resident memory in bytes, null where it cannot be had. */
  readonly peak: number | null;
}

/** @throws the system's error if it cannot be started. */
export async function runPeer({
  command: [program, ...args],
  environment = {},
  onText,
  maxSeconds,
}: PeerRun): Promise<PeerEnd> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      onText(stream, text, seconds());
    });
  }
  let peak: number | null = null;
  const look = setInterval(() => (peak = peakOf(child.pid) ?? peak), LOOK_MS);
  let isLate = false;
  const end = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, 1000 * maxSeconds);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code, isLate, seconds: seconds(), peak };
  } finally {
    clearInterval(look);
    clearTimeout(end);
  }
}

/** Null where there is no such file, or the process is ending. */
function peakOf(pid: number | undefined): number | null {
  try {
    return parseStatus(readFileSync(`/proc/${pid}/status`, "utf8")).peak;
  } catch {
    return null;
  }
}
