/** Two devices, one at half speed: how batch sizes settle, and where each device's time goes. */
import { join } from "node:path";
import Table from "cli-table3";
import { describeEnvironment, environment } from "./environment.js";
import { dataFolder, finalPrecision, trainByCommand, type FinishedRun } from "./run-command.js";
import { sum } from "./statistics.js";

export interface UnequalOptions {
  readonly data?: string;
  readonly devices?: string;
  readonly epochs?: string;
  readonly seed?: string;
  readonly json?: boolean;
}

export async function unequal({
  data,
  devices = "cpu,cpu@0.5",
  epochs = "6",
  seed = "1",
  json = false,
}: UnequalOptions): Promise<void> {
  const args = (folder: string) => [
    join(folder, "delicious/delicious.train.txt.gz"),
    "--test",
    join(folder, "delicious/delicious.test.txt.gz"),
    "--devices",
    devices,
    "--epochs",
    epochs,
    "--seed",
    seed,
  ];
  const where = environment();
  const run = await trainByCommand(args(dataFolder(data)));
  const command = ["heterosgd train", ...args("$HETEROSGD_DATA")].join(" ");
  const balance = balanceOf(run);
  const overhead = overheadOf(run);
  if (json) {
    const { merges, end } = run;
    const result = { command, environment: where, balance, overhead, merges, end };
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  console.log(mergeTable(run));
  console.log(deviceTable(run));
  console.log(
    balance.first === null
      ? "The devices never made equal numbers of updates (±1)."
      : `The devices make equal numbers of updates (±1) from mega-batch ${balance.first} on, in ${percent(balance.steadiness)} of them.`,
  );
  console.log(`Waiting and merging take ${percent(overhead)} of the devices' time.`);
  console.log(`P@1 on the test set: ${finalPrecision(run).toFixed(3)}`);
  console.log(describeEnvironment(where));
  console.log(command);
}

/** When the devices first made equal numbers of updates (±1), and how steadily from then on. */
export interface Balance {
  /**
   * The mega-batch, from 1; null if there was none. The last one, which may be short, does not
   * count.
   */
  readonly first: number | null;
  /** Share of the mega-batches from then on whose updates differ by at most one. */
  readonly steadiness: number;
}

export function balanceOf({ merges }: Pick<FinishedRun, "merges">): Balance {
  const equal = merges.slice(0, -1).map(({ devices }) => {
    const updates = devices.map((device) => device.updates);
    return Math.max(...updates) - Math.min(...updates) <= 1;
  });
  const first = equal.indexOf(true);
  if (first < 0) return { first: null, steadiness: 0 };
  const since = equal.slice(first);
  return { first: first + 1, steadiness: since.filter(Boolean).length / since.length };
}

/** Share of all devices' time that goes into waiting and merging. */
export function overheadOf({ end }: Pick<FinishedRun, "end">): number {
  const usages = end.devices.flatMap(({ usage }) => usage ?? []);
  const overhead = sum(usages.map(({ waiting, merging }) => waiting + merging));
  return overhead / sum(usages.map((usage) => sum(Object.values(usage))));
}

function mergeTable({ merges, start }: FinishedRun): string {
  const names = start.devices.map(({ name }) => name);
  const table = new Table({
    head: ["mega-batch", "rows", ...names.map((name) => `${name}: updates × rows, weight`)],
    style: { head: [], border: [] },
  });
  for (const { merge, rows, devices } of merges) {
    table.push([
      merge,
      rows,
      ...devices.map((d) => `${d.updates} × ${d.batchRows}, ${d.weight.toFixed(3)}`),
    ]);
  }
  return table.toString();
}

function deviceTable({ end }: FinishedRun): string {
  const table = new Table({
    head: ["device", "rows", "rows/s", "training", "evaluating", "merging", "waiting"],
    style: { head: [], border: [] },
  });
  for (const { name, rows, rowsPerSecond, usage } of end.devices) {
    if (usage === null) continue;
    const { training, evaluating, merging, waiting } = usage;
    const total = training + evaluating + merging + waiting;
    table.push([
      name,
      rows,
      Math.round(rowsPerSecond),
      ...[training, evaluating, merging, waiting].map((seconds) => percent(seconds / total)),
    ]);
  }
  return table.toString();
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
