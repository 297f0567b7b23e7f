/** Whether `--dry-run` says how much memory a run takes: its estimate beside the peak of real runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { describeEnvironment, environment } from "../environment.js";
import { dataFolder } from "../run-command.js";
import { filesFor, isHuge, memoryCases, type MemoryCase } from "./memory-cases.js";
import { measurePeak, type PeakRun } from "./peak-run.js";

export interface MemoryOptions {
  readonly data?: string;
  /** Data sets. Default all but the largest. */
  readonly only?: readonly string[];
  readonly json?: boolean;
}

/** How far the estimate may be from the peak, as a part of it. */
const TOLERANCE = 0.15;

interface Result extends MemoryCase, PeakRun {
  /** Estimate over peak. */
  readonly ratio: number;
  readonly command: string;
}

/** Sets the exit code to 1 where an estimate is further off than it may be. */
export async function memory({ data, only, json = false }: MemoryOptions): Promise<void> {
  const where = environment();
  const wanted = ({ set }: MemoryCase) => only?.includes(set) ?? !isHuge(set);
  const cases = memoryCases.filter(wanted);
  if (cases.length === 0) {
    throw new Error(
      `there are runs on ${[...new Set(memoryCases.map(({ set }) => set))].join(", ")}`,
    );
  }
  const made = mkdtempSync(join(tmpdir(), "heterosgd-memory-sets-"));
  const results: Result[] = [];
  try {
    const folders = { data: () => dataFolder(data), made, written: new Set<string>() };
    for (const one of cases) {
      const files = await filesFor(one, folders);
      const run = await measurePeak(one.verb, [...files, ...one.args]);
      const command = `heterosgd ${one.verb} ${one.set} ${one.args.join(" ")}`;
      results.push({ ...one, ...run, ratio: run.estimate.total / run.peak, command });
      if (!json) console.error(`${results.at(-1)!.ratio.toFixed(3)}  ${command}`);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  const off = results.map(({ ratio }) => Math.abs(ratio - 1));
  if (off.some((part) => part > TOLERANCE)) process.exitCode = 1;
  if (json) {
    console.log(JSON.stringify({ environment: where, tolerance: TOLERANCE, results }, null, 2));
    return;
  }
  console.log(describe(results));
  const within = off.filter((part) => part <= TOLERANCE).length;
  console.log(
    `${within} of ${results.length} within ${100 * TOLERANCE} %, the worst ${(100 * Math.max(...off)).toFixed(1)} % off; ` +
      describeEnvironment(where),
  );
}

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);

function describe(results: readonly Result[]): string {
  const table = new Table({
    head: ["run", "estimate, MiB", "peak, MiB", "estimate / peak"],
    colAligns: ["left", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { command, estimate, peak, ratio } of results) {
    table.push([command, mebibytes(estimate.total), mebibytes(peak), ratio.toFixed(3)]);
  }
  return table.toString();
}
