/** P@1 on whole test sets, by the command as users run it: median over seeds. */
import { join } from "node:path";
import Table from "cli-table3";
import { accuracySets, type AccuracySet } from "./accuracy-sets.js";
import { describeEnvironment, environment } from "./environment.js";
import { dataFolder, finalPrecision, trainByCommand, type FinishedRun } from "./run-command.js";
import { median, sum } from "./statistics.js";

export interface AccuracyOptions {
  readonly data?: string;
  /** Data sets to run; all if left out. */
  readonly only?: readonly string[];
  readonly seeds?: readonly number[];
  readonly json?: boolean;
}

interface Result {
  readonly set: AccuracySet;
  readonly precision: readonly number[];
  readonly runs: readonly FinishedRun[];
}

export async function accuracy({
  data,
  only,
  seeds = [1, 2, 3],
  json = false,
}: AccuracyOptions): Promise<void> {
  const folder = dataFolder(data);
  const where = environment();
  const results: Result[] = [];
  for (const set of accuracySets) {
    if (only && !only.includes(set.name)) continue;
    const runs: FinishedRun[] = [];
    for (const seed of seeds) runs.push(await trainByCommand(argumentsOf(set, folder, seed)));
    results.push({ set, precision: runs.map(finalPrecision), runs });
    if (!json) console.error(`${set.name}: ${runs.map(finalPrecision).join(", ")}`);
  }
  if (json) {
    const rows = results.map((result) => ({
      name: result.set.name,
      command: commandOf(result.set),
      precisionAt1: result.precision,
      median: median(result.precision),
      atLeast: result.set.atLeast,
      ...fairness(result.runs),
    }));
    console.log(JSON.stringify({ environment: where, seeds, results: rows }, null, 2));
  } else print(results, seeds, where);
  process.exitCode = results.every(({ set, precision }) => median(precision) >= set.atLeast)
    ? 0
    : 1;
}

function argumentsOf(set: AccuracySet, folder: string, seed: number): string[] {
  const files = [join(folder, set.train), "--test", join(folder, set.test)];
  return [...files, ...set.options, "--seed", String(seed)];
}

function commandOf(set: AccuracySet): string {
  return ["heterosgd train", ...argumentsOf(set, "$HETEROSGD_DATA", 1)].join(" ");
}

/** What the devices' part in the runs was, at the least. */
function fairness(runs: readonly FinishedRun[]) {
  const shares = runs.flatMap(({ end }) => {
    const rows = sum(end.devices.map((device) => device.rows));
    return end.devices.map((device) => device.rows / rows);
  });
  const epochs = ({ end, start }: FinishedRun) =>
    sum(end.devices.map((device) => device.rows)) / start.trainRows;
  return {
    devices: runs[0]!.start.devices.map(({ name }) => name),
    leastShare: Math.min(...shares),
    leastWeight: Math.min(...runs.flatMap(({ end }) => end.devices.map((d) => d.leastWeight ?? 0))),
    mergesPerEpoch: Math.min(...runs.map((run) => run.merges.length / epochs(run))),
    medianSeconds: median(runs.map(({ seconds }) => seconds)),
  };
}

function print(
  results: readonly Result[],
  seeds: readonly number[],
  where: ReturnType<typeof environment>,
): void {
  const table = new Table({
    head: [
      "data set",
      "P@1 (seeds)",
      "median",
      "wanted",
      "least share",
      "least weight",
      "merges/epoch",
      "s",
    ],
    style: { head: [], border: [] },
  });
  for (const { set, precision, runs } of results) {
    const { leastShare, leastWeight, mergesPerEpoch, medianSeconds } = fairness(runs);
    table.push([
      set.name,
      precision.map((value) => value.toFixed(3)).join(" "),
      median(precision).toFixed(3),
      set.atLeast.toFixed(2),
      leastShare.toFixed(2),
      leastWeight.toFixed(3),
      mergesPerEpoch.toFixed(1),
      medianSeconds.toFixed(1),
    ]);
  }
  console.log(table.toString());
  console.log(`seeds ${seeds.join(", ")}; ${describeEnvironment(where)}`);
  for (const { set } of results) console.log(commandOf(set));
}
