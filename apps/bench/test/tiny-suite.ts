/** A suite on generated data that is run in moments, and the program that runs it. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunRecord } from "../src/suite/run-record.js";

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

export interface Outcome {
  /** The exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TinySuite {
  readonly folder: string;
  /** Where results go. */
  readonly out: string;
  /** Where the program's temporary files go. */
  readonly temporary: string;
  /** Writes the suite: simulated, one algorithm, one seed, one epoch, where not told otherwise. */
  write(members?: object): void;
  start(...args: readonly string[]): ChildProcessWithoutNullStreams;
  run(...args: readonly string[]): Promise<Outcome>;
  records(): readonly RunRecord[];
  remove(): void;
}

export function tinySuite(): TinySuite {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-test-"));
  const out = join(folder, "out");
  const temporary = mkdtempSync(join(folder, "temporary-"));
  const path = join(folder, "tiny.json");
  writeFileSync(join(folder, "train.txt"), rows(240));
  writeFileSync(join(folder, "test.txt"), rows(60));
  const start = (...args: readonly string[]) =>
    spawn(process.execPath, [program, ...args], { env: { ...process.env, TMPDIR: temporary } });
  return {
    folder,
    out,
    temporary,
    write(members = {}) {
      const suite = {
        description: "tiny",
        sets: [{ name: "made-up", train: "train.txt", test: "test.txt" }],
        platforms: [{ name: "four", profile: "four-v100" }],
        options: { optimizer: "sgd", schedule: "constant", batch: 16, learningRate: 0.5 },
        algorithms: [{ algorithm: "sync" }],
        seeds: [1],
        stop: { epochs: 1 },
        ...members,
      };
      writeFileSync(path, JSON.stringify(suite));
    },
    start,
    async run(...args) {
      const child = start("run", path, "--out", out, ...args);
      return outcomeOf(child);
    },
    records: () =>
      readdirSync(join(out, "runs"))
        .toSorted()
        .map((file) => JSON.parse(readFileSync(join(out, "runs", file), "utf8")) as RunRecord),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** Rows in the XC format whose label is told by one of their features. */
function rows(count: number): string {
  const labels = 8;
  const lines = Array.from({ length: count }, (_, row) => {
    const label = (row * 5) % labels;
    return `${label} ${label}:1 ${labels + (row % 16)}:0.5`;
  });
  return [`${count} ${labels + 16} ${labels}`, ...lines, ""].join("\n");
}
