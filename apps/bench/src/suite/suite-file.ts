import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { namedSetNames } from "../named-sets.js";
import { ownFile } from "../own-files.js";
import { SuiteError } from "./suite-error.js";
import { suiteSchema, type SuiteDocument } from "./suite-schema.js";

export interface Contestant extends Omit<SuiteDocument["algorithms"][number], "name"> {
  readonly name: string;
}

type SetDocument = SuiteDocument["sets"][number];

/** A data set, and what it has of its own over the suite's. */
export interface SuiteSet extends Omit<SetDocument, "train" | "test"> {
  /** Absolute paths; null for a set of the data folder, which the name tells. */
  readonly files: { readonly train: string; readonly test: string } | null;
}

/** A checked suite, its names filled in and its paths absolute. */
export interface Suite extends Omit<SuiteDocument, "algorithms" | "sets"> {
  readonly name: string;
  readonly sets: readonly SuiteSet[];
  readonly algorithms: readonly Contestant[];
}

/** What is measured by programs of their own and not by suites. */
const programs: ReadonlyMap<string, string> = new Map([
  ["kernels", "kernels"],
  ["parsing", "parse"],
  ["peers", "peers"],
]);

/** Names of the suites that are shipped. */
export function shippedSuites(): readonly string[] {
  return readdirSync(ownFile("suites/"))
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
    .toSorted();
}

/** @param told - the name of a shipped suite, or a path. @throws SuiteError */
export function readSuite(told: string): Suite {
  const isName = /^[a-z0-9-]+$/.test(told);
  const program = programs.get(told);
  if (program !== undefined) {
    throw new SuiteError(`"${told}" is a program of its own: npm run bench -- ${program}`);
  }
  const path = isName ? fileURLToPath(ownFile(`suites/${told}.json`)) : resolve(told);
  if (!existsSync(path)) {
    throw new SuiteError(
      isName
        ? `there is no suite "${told}"; there are ${shippedSuites().join(", ")}, or name a JSON file`
        : `there is no file ${told}; the shipped suites are ${shippedSuites().join(", ")}`,
    );
  }
  return parseSuite(readFileSync(path, "utf8"), path);
}

/**
 * @param path - what messages call the file, and the folder that paths in it are relative to.
 * @throws SuiteError naming file and member.
 */
export function parseSuite(text: string, path: string): Suite {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new SuiteError(`${path} is no JSON: ${(error as Error).message}`, { cause: error });
  }
  const result = suiteSchema.safeParse(document);
  if (!result.success) {
    throw new SuiteError(
      result.error.issues
        .slice(0, MOST_ISSUES)
        .map((issue) => `${path}: ${describe(issue)}`)
        .join("\n"),
    );
  }
  const folder = dirname(path);
  const suite: Suite = {
    ...result.data,
    name: basename(path, extname(path)),
    sets: result.data.sets.map(({ train, test, ...set }) => ({
      ...set,
      files:
        train === undefined || test === undefined
          ? null
          : { train: join(folder, train), test: join(folder, test) },
    })),
    platforms: result.data.platforms.map((platform) =>
      platform.profile?.endsWith(".json")
        ? { ...platform, profile: resolve(folder, platform.profile) }
        : platform,
    ),
    algorithms: result.data.algorithms.map((it) => ({ ...it, name: it.name ?? it.algorithm })),
  };
  checkNames(suite, path);
  return suite;
}

function checkNames({ sets, platforms, algorithms, goal, losses }: Suite, path: string): void {
  for (const [member, items] of Object.entries({ sets, platforms, algorithms })) {
    const names = items.map((item) => item.name);
    const twice = names.findIndex((name, i) => names.indexOf(name) < i);
    if (twice >= 0) {
      throw new SuiteError(
        `${path}: ${member}[${twice}]: there are two of the name "${brief(names[twice]!)}"; give each a "name" of its own`,
      );
    }
  }
  const names = algorithms.map(({ name }) => name);
  const known = { platforms: platforms.map(({ name }) => name), algorithms: names };
  for (const [i, set] of sets.entries()) {
    if (set.files === null && !namedSetNames.includes(set.name)) {
      throw new SuiteError(
        `${path}: sets[${i}]: there is no data set "${brief(set.name)}"; there are ${namedSetNames.join(", ")}, or name files: { name, train, test }`,
      );
    }
    const told = { platforms: set.platforms ?? [], algorithms: Object.keys(set.algorithms) };
    for (const member of ["platforms", "algorithms"] as const) {
      const unknown = told[member].find((name) => !known[member].includes(name));
      if (unknown === undefined) continue;
      throw new SuiteError(
        `${path}: sets[${i}].${member}: "${brief(unknown)}" is none of the suite's ${member}, ${brief(known[member].join(", "))}`,
      );
    }
  }
  if (goal === undefined || !("bestOf" in goal)) {
    if (losses === undefined) return;
    throw new SuiteError(
      `${path}: losses: they are told at shares of an algorithm's time; name it, "goal": { "bestOf": ALGORITHM }`,
    );
  }
  const { bestOf } = goal;
  if (!names.includes(bestOf)) {
    throw new SuiteError(
      `${path}: goal.bestOf: "${brief(bestOf)}" is none of the suite's algorithms, ${brief(names.join(", "))}`,
    );
  }
  const without = sets.findIndex((set) => set.algorithms[bestOf]?.run === false);
  if (without >= 0) {
    throw new SuiteError(
      `${path}: sets[${without}].algorithms.${bestOf}.run: the goal is its best, so that it has to be run`,
    );
  }
}

const LONGEST_WORDS = 300;
const MOST_ISSUES = 5;

type Issue = z.core.$ZodIssue;

/** `algorithms[0].options.seed: the runner sets it; see seeds` */
function describe(issue: Issue): string {
  const nested = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
  const message = (nested ?? issue.message).replace(/^Invalid input: /, "");
  const where = issue.path
    .map((part, i) => {
      if (typeof part === "number") return `[${part}]`;
      return i === 0 ? String(part) : `.${String(part)}`;
    })
    .join("");
  return `${where === "" ? "the suite" : brief(where)}: ${brief(message)}`;
}

/** Of names that a file may have at any length. */
function brief(words: string): string {
  return words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS)}…` : words;
}
