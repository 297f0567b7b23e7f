/** A folder of results: `suite.json`, `runs/*.json`, and the summary. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PlannedRun } from "./plan.js";
import { recordSchema } from "./record-schema.js";
import type { RunRecord } from "./run-record.js";
import { SuiteError } from "./suite-error.js";
import type { Suite } from "./suite-file.js";
import { savedSuiteSchema } from "./suite-schema.js";

/** What a run would be if it were run now. */
export interface Present {
  readonly command: string;
  readonly commit: string | null;
  readonly versions: RunRecord["versions"];
}

/**
 * Whether a run has to be run: `other-command` where what is there is of another suite,
 * `other-version` where it is of another commit or version.
 */
export type Standing = "missing" | "finished" | "other-command" | "other-version";

export function standingOf(record: RunRecord | null, present: Present): Standing {
  if (record === null) return "missing";
  if (record.command !== present.command) return "other-command";
  const { environment, versions } = record;
  const same =
    environment.commit === present.commit &&
    versions.heterosgd === present.versions.heterosgd &&
    versions.node === present.versions.node;
  return same ? "finished" : "other-version";
}

/** What is told of a run that is there, but of another suite. */
export function otherCommand(path: string, was: string, is: string): string {
  return [
    `${path} is of another command, so the suite or its tuning has changed:`,
    `  was: ${was}`,
    `  is:  ${is}`,
    "take another folder (--out), or run what has changed again (--replace)",
  ].join("\n");
}

export function runPath(folder: string, { file }: Pick<PlannedRun, "file">): string {
  return join(folder, "runs", file);
}

/** @throws SuiteError if the file is no run's. */
export function readRecord(path: string): RunRecord | null {
  if (!existsSync(path)) return null;
  return readRun(path);
}

/** Replaces a file whole: a program that is killed leaves none that is half written. */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

export function writeJson(path: string, document: unknown): void {
  writeWhole(path, `${JSON.stringify(document, null, 2)}\n`);
}

const suitePath = (folder: string) => join(folder, "suite.json");

/** Whether a folder's results are of the suite as it was before a change. */
export function isOfOtherSuite(folder: string, suite: Suite): boolean {
  const path = suitePath(folder);
  return existsSync(path) && JSON.stringify(readSuiteOf(path)) !== JSON.stringify(suite);
}

/** Makes a folder for a suite's results, or says that what it holds is of this suite. */
export function openFolder(folder: string, suite: Suite): void {
  mkdirSync(join(folder, "runs"), { recursive: true });
  writeJson(suitePath(folder), suite);
}

export interface Results {
  readonly suite: Suite;
  readonly records: readonly RunRecord[];
}

/** @throws SuiteError unless it is a folder of results. */
export function readResults(folder: string): Results {
  const suite = suitePath(folder);
  if (!existsSync(suite)) {
    throw new SuiteError(`${folder} holds no results: there is no ${suite}; see bench run`);
  }
  const runs = join(folder, "runs");
  const files = existsSync(runs) ? readdirSync(runs).filter((file) => file.endsWith(".json")) : [];
  return {
    suite: readSuiteOf(suite),
    records: files.toSorted().map((file) => readRun(join(runs, file))),
  };
}

/** @throws SuiteError unless it is a run's, as this program writes them. */
function readRun(path: string): RunRecord {
  const record = readJson(path);
  if (recordSchema.safeParse(record).success) return record as RunRecord;
  throw new SuiteError(`${path} is no run's; delete it, and it is run again`);
}

/** @throws SuiteError unless it is a suite's, as this program writes them. */
function readSuiteOf(path: string): Suite {
  const suite = readJson(path);
  if (savedSuiteSchema.safeParse(suite).success) return suite as Suite;
  throw new SuiteError(`${path} is no suite's; delete it, and bench run writes it again`);
}

function readJson(path: string): object {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new SuiteError(
      `${path} cannot be read: ${(error as Error).message}; delete it, and bench run writes it again`,
      { cause: error },
    );
  }
  return typeof document === "object" && document !== null ? document : {};
}
