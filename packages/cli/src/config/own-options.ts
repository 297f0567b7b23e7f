/**
 * The options that algorithms have of their own, as the registry lists them: one key each in the
 * configuration, whichever algorithms share it.
 */
import {
  algorithms,
  type NumberOption,
  type OptionInfo,
  type OptionValue,
} from "@heterosgd/scheduler";
import * as z from "zod";
import { mergeOptions } from "./merge-options.js";
import { camelCaseAsFlags } from "./option-flags.js";

type Table = Readonly<Record<string, OptionInfo>>;

export const algorithmNames: readonly string[] = Object.keys(algorithms);

/** The options of one algorithm, those of its merge rule included. */
export function ownOptions(algorithm: string): Table {
  const { options = {}, needsMerge = false } = algorithms[algorithm] ?? {};
  return needsMerge ? { ...options, ...mergeOptions } : options;
}

/** The algorithms that have such an option. */
export function ownersOf(name: string): readonly string[] {
  return algorithmNames.filter((algorithm) => Object.hasOwn(ownOptions(algorithm), name));
}

/** All of them, in the order of the registry. */
export const ownNames: readonly string[] = [
  ...new Set(algorithmNames.flatMap((algorithm) => Object.keys(ownOptions(algorithm)))),
];

/** What a configuration says of the algorithm's own options; null where it says nothing. */
export function ownValues(config: {
  readonly algorithm: string;
}): Readonly<Record<string, OptionValue>> {
  const values = config as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(ownOptions(config.algorithm)).map((name) => [
      name,
      (values[name] ?? null) as OptionValue,
    ]),
  );
}

/** Help of one option for one algorithm, with the default that the option's absence stands for. */
export function ownHelp({ help, default: value }: OptionInfo): string {
  const text = camelCaseAsFlags(help);
  if (value === null) return text;
  const shown = typeof value === "boolean" ? (value ? "on" : "off") : String(value);
  return `${text} Automatic: ${shown}.`;
}

/** Whose option it is and what it does; several times where it differs. */
export function ownDescription(name: string): string {
  const owners = new Map<string, string[]>();
  for (const owner of ownersOf(name)) {
    const help = ownHelp(ownOptions(owner)[name]!);
    owners.set(help, [...(owners.get(help) ?? []), owner]);
  }
  return [...owners].map(([help, names]) => `${names.join(", ")}: ${help}`).join(" ");
}

export function isSwitchOption(name: string): boolean {
  return ownersOf(name).some((owner) => ownOptions(owner)[name]!.kind === "switch");
}

/** A type that takes what any of the option's algorithms takes; each checks its own range. */
export function ownType(name: string): z.ZodType<OptionValue> {
  const infos = ownersOf(name).map((owner) => ownOptions(owner)[name]!);
  return looseType(infos).nullable().default(null);
}

function looseType(infos: readonly OptionInfo[]): z.ZodType<number | boolean | string> {
  const [first] = infos;
  if (first?.kind === "switch") return z.boolean();
  if (first?.kind === "choice") {
    const choices = infos.flatMap((info) => (info.kind === "choice" ? info.choices : []));
    return z.enum([...new Set(choices)]);
  }
  const numbers = infos.filter(
    (info): info is NumberOption => info.kind === "count" || info.kind === "number",
  );
  const bounds = (key: "min" | "max" | "above" | "below") =>
    numbers.map((info) => info[key]).filter((bound) => bound !== undefined);
  const all = (...lists: readonly (readonly number[])[]) =>
    lists.reduce((sum, list) => sum + list.length, 0) === numbers.length;
  const [least, above] = [bounds("min"), bounds("above")];
  const [most, below] = [bounds("max"), bounds("below")];
  let type = numbers.every(({ kind }) => kind === "count") ? z.int() : z.number();
  // A bound holds for all only where each has one; of two at one value the looser counts.
  if (all(least, above)) {
    const lowest = Math.min(...least, ...above);
    type = least.includes(lowest) ? type.min(lowest) : type.gt(lowest);
  }
  if (all(most, below)) {
    const highest = Math.max(...most, ...below);
    type = most.includes(highest) ? type.max(highest) : type.lt(highest);
  }
  return type;
}
