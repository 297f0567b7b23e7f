/** Runs the built command for tests. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

if (!existsSync(program)) {
  throw new Error("packages/cli/dist/main.js is missing: build first (npm test does)");
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written to stderr so far. */
  stderr(): string;
}

export interface CommandOptions {
  readonly folder: string;
  /** What standard input holds, null to leave it open. */
  readonly input?: string | Uint8Array | null;
  readonly environment?: Readonly<Record<string, string>>;
}

export function start(
  args: readonly string[],
  { folder, input = "", environment = {} }: CommandOptions,
): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...environment },
    stdio: "pipe",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  if (input !== null) child.stdin.end(input);
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  return { child, ended, stderr: () => stderr };
}

export function run(args: readonly string[], options: CommandOptions): Promise<Ended> {
  return start(args, options).ended;
}

/** A folder for the tests of one file, removed after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-cli-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Rows that are easy to learn: feature f goes with label f mod 3, and with f + 1 once in a while.
 */
export function easyRows(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => {
    const feature = i % 12;
    return `${feature % 3} ${feature}:1 ${12 + ((i * 5) % 4)}:0.25`;
  });
}

/** Writes `train.txt` and `test.txt` in XC format; every tenth test row has no label. */
export function writeEasyData(folder: string): void {
  writeFileSync(join(folder, "train.txt"), `240 16 3\n${easyRows(240).join("\n")}\n`);
  const test = easyRows(40).map((row, i) => (i % 10 === 9 ? row.slice(1) : row));
  writeFileSync(join(folder, "test.txt"), `40 16 3\n${test.join("\n")}\n`);
}

/** Waits until `condition` holds; the test's own time limit ends it otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
