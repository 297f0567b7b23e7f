/** What products in bfloat16 cost in accuracy and save in time: runs with them and without. */
import Table from "cli-table3";
import { describeEnvironment, environment } from "./environment.js";
import { filesOf } from "./named-sets.js";
import { dataFolder, finalPrecision, trainByCommand, type FinishedRun } from "./run-command.js";
import { median, sum } from "./statistics.js";

export interface Bf16Options {
  readonly data?: string;
  /** Data sets. Default wordnet-hypernyms and cooking-stackexchange. */
  readonly only?: readonly string[];
  readonly seeds?: readonly number[];
  readonly json?: boolean;
}

/** Runs of one data set in one precision, by seed. */
interface Precision {
  /** Kernels that ran, as they name themselves. */
  readonly kernels: string;
  readonly precisionAt1: readonly number[];
  /** From the run's start to its end. */
  readonly seconds: readonly number[];
  /** Of all devices together, in training alone. */
  readonly trainingSeconds: readonly number[];
}

interface Result {
  readonly name: string;
  readonly float32: Precision;
  readonly bf16: Precision;
}

/** @throws Error with what the command printed, e.g. where the processor has no bfloat16. */
export async function bf16({
  data,
  only = ["wordnet-hypernyms", "cooking-stackexchange"],
  seeds = [1, 2, 3],
  json = false,
}: Bf16Options): Promise<void> {
  const folder = dataFolder(data);
  const where = environment();
  const results: Result[] = [];
  for (const name of only) {
    const runs: { float32: FinishedRun; bf16: FinishedRun }[] = [];
    for (const seed of seeds) {
      const args = [...filesOf(name, folder), "--seed", String(seed)];
      // One after the other, so that what else the machine does falls on both.
      const float32 = await trainByCommand(args);
      runs.push({ float32, bf16: await trainByCommand([...args, "--bf16"]) });
    }
    results.push({
      name,
      float32: summarise(runs.map((pair) => pair.float32)),
      bf16: summarise(runs.map((pair) => pair.bf16)),
    });
  }
  const commands = only.map((name) =>
    ["heterosgd train", ...filesOf(name, "$HETEROSGD_DATA"), "--seed 1 [--bf16]"].join(" "),
  );
  if (json) {
    console.log(JSON.stringify({ commands, environment: where, seeds, results }, null, 2));
    return;
  }
  console.log(describe(results));
  console.log(`seeds ${seeds.join(", ")}; ${describeEnvironment(where)}`);
  for (const command of commands) console.log(command);
}

function summarise(runs: readonly FinishedRun[]): Precision {
  const kernels = runs.flatMap(({ start }) => start.devices.map((device) => device.kernels));
  return {
    kernels: [...new Set(kernels)].join(", "),
    precisionAt1: runs.map(finalPrecision),
    seconds: runs.map(({ seconds }) => seconds),
    trainingSeconds: runs.map(({ end }) =>
      sum(end.devices.map(({ usage }) => usage?.training ?? 0)),
    ),
  };
}

function describe(results: readonly Result[]): string {
  const table = new Table({
    head: ["data set", "kernels", "P@1 (seeds)", "median", "s", "s of training, all devices"],
    style: { head: [], border: [] },
  });
  for (const { name, float32, bf16: half } of results) {
    for (const { kernels, precisionAt1, seconds, trainingSeconds } of [float32, half]) {
      table.push([
        name,
        kernels,
        precisionAt1.map((value) => value.toFixed(4)).join(" "),
        median(precisionAt1).toFixed(4),
        median(seconds).toFixed(1),
        median(trainingSeconds).toFixed(1),
      ]);
    }
  }
  return table.toString();
}
