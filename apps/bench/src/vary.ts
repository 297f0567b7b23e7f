/**
 * P@1 on held-out training rows under every combination of some options: for choosing learning
 * rates and the like without a look at the test rows, and for switching mechanisms off one by one.
 */
import { join } from "node:path";
import Table from "cli-table3";
import { accuracySets } from "./accuracy-sets.js";
import { describeEnvironment, environment } from "./environment.js";
import { dataFolder, trainByCommand, type FinishedRun } from "./run-command.js";
import { median } from "./statistics.js";

export interface VaryOptions {
  readonly data?: string;
  readonly seeds?: readonly number[];
  readonly json?: boolean;
}

/** One option of `heterosgd train` and the values to try. */
export interface Variation {
  readonly option: string;
  readonly values: readonly string[];
}

/** Reads `learning-rate=0.1,0.3`. */
export function parseVariation(text: string): Variation {
  const [option, values] = text.split("=");
  if (!option || !values) {
    throw new Error(
      `cannot read "${text}"; expected OPTION=VALUE,VALUE, e.g. learning-rate=0.1,0.3`,
    );
  }
  return { option, values: values.split(",") };
}

/** All combinations, the last variation changing fastest. */
export function combinations(variations: readonly Variation[]): readonly (readonly string[])[] {
  return variations.reduce<string[][]>(
    (sofar, { values }) => sofar.flatMap((head) => values.map((value) => [...head, value])),
    [[]],
  );
}

/** @param name - of one of the accuracy sets; its own options hold unless they are varied. */
export async function vary(
  name: string,
  texts: readonly string[],
  { data, seeds = [1], json = false }: VaryOptions,
): Promise<void> {
  const set = accuracySets.find((candidate) => candidate.name === name);
  if (set === undefined) {
    const names = accuracySets.map((candidate) => candidate.name).join(", ");
    throw new Error(`there is no data set "${name}"; there are ${names}`);
  }
  const variations = texts.map(parseVariation);
  const where = environment();
  const train = join(dataFolder(data), set.train);
  const results = [];
  for (const values of combinations(variations)) {
    const varied = values.flatMap((value, i) => flag(variations[i]!.option, value));
    const runs: FinishedRun[] = [];
    for (const seed of seeds) {
      const args = [train, "--validation", "0.1", "--seed", String(seed)];
      runs.push(await trainByCommand([...args, ...set.options, ...varied]));
    }
    const curves = runs.map(({ evaluations }) =>
      evaluations.map(({ metrics }) => metrics.precision[0]!),
    );
    const last = median(curves.map((curve) => curve.at(-1)!));
    const best = median(curves.map((curve) => Math.max(...curve)));
    results.push({ values, last, best, curves });
    if (!json) console.error(`${varied.join(" ")}: ${last.toFixed(4)}, best ${best.toFixed(4)}`);
  }
  if (json) {
    console.log(JSON.stringify({ environment: where, name, variations, seeds, results }, null, 2));
    return;
  }
  const table = new Table({
    head: [...variations.map(({ option }) => option), "P@1 at the end", "best P@1"],
    style: { head: [], border: [] },
  });
  for (const { values, last, best } of results) {
    table.push([...values, last.toFixed(4), best.toFixed(4)]);
  }
  console.log(table.toString());
  console.log(
    `${name}, held-out tenth of the training rows, median over seeds ${seeds.join(", ")}`,
  );
  console.log(describeEnvironment(where));
}

/** `--option value`; `--option` or `--no-option` for a switch. */
function flag(option: string, value: string): string[] {
  if (value === "on") return [`--${option}`];
  if (value === "off") return [`--no-${option}`];
  return [`--${option}`, value];
}
