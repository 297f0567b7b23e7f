/**
 * heterosgd and what people would take instead, on the same rows: the same size of network, batches,
 * epochs and threads, whole training runs in turn, round by round.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { selectRows, splitRows, type Dataset } from "@heterosgd/sparse";
import { readDatasetFile } from "@heterosgd/sparse/node";
import { describeEnvironment, environment } from "../environment.js";
import { filesOf } from "../named-sets.js";
import { orderOf } from "../rounds.js";
import { dataFolder } from "../run-command.js";
import { markdownTable, terminalTable } from "../suite/tables.js";
import { families, peerContestants, type Contestant, type Job } from "./contestants.js";
import { bestPrecision, rowsPerSecond, type Outcome } from "./outcome.js";
import { writePeerData } from "./peer-data.js";
import {
  beatenLines,
  peerCells,
  targetOf,
  type PeerResult,
  type SetResult,
} from "./peers-report.js";
import { gridOf, rateOf } from "./rates.js";

export interface PeersOptions {
  readonly data?: string;
  readonly sets?: readonly string[];
  readonly only?: readonly string[];
  /** Default 3. */
  readonly rounds?: number;
  /** Default: the cores. */
  readonly threads?: number;
  readonly epochs?: number;
  readonly maxSeconds?: number;
  readonly python?: string;
  readonly modules?: string;
  readonly tune?: boolean;
  readonly markdown?: boolean;
  readonly json?: boolean;
}

/** One whose training takes longer in the first round has no others. */
const SLOW_SECONDS = 20;
/** Of the training rows, held out to choose rates by. */
const HELD_OUT = 0.1;

/** One that takes part. */
interface Present {
  readonly contestant: Contestant;
  readonly version: string;
}

export async function peers(options: PeersOptions): Promise<void> {
  const { rounds = 3, tune = false, json = false, markdown = false } = options;
  const sets = options.sets ?? ["cooking-stackexchange", "delicious", "wordnet-hypernyms"];
  for (const [name, value] of Object.entries({ rounds, epochs: options.epochs ?? 1 })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} must be a whole number from 1 on, received ${value}`);
    }
  }
  const folder = dataFolder(options.data);
  const files = sets.map((set) => [set, filesOf(set, folder)] as const);
  const where = environment();
  const { present, missing } = await findAll(options);
  for (const line of missing) console.error(line);
  const results: SetResult[] = [];
  for (const [set, names] of files) {
    if (tune) await tuneSet(set, names, present, options);
    else results.push(await measureSet(set, names, present, rounds, options));
  }
  if (tune) return;
  const command = ["npm run bench --", ...process.argv.slice(2)].join(" ");
  if (json) {
    const told = results.map((result) => ({ ...result, target: targetOf(result) }));
    const document = { command, environment: where, rounds, missing, results: told };
    console.log(JSON.stringify(document, null, 2));
    return;
  }
  const table = markdown ? markdownTable : terminalTable;
  for (const result of results) console.log(`${table(peerCells(result))}\n`);
  for (const line of [...results.flatMap(beatenLines), ...missing]) console.log(line);
  console.log(
    present
      .map(({ version }) => version)
      .filter(isFirst)
      .join(", "),
  );
  console.log(describeEnvironment(where));
  console.log(command);
}

const isFirst = (value: string, at: number, all: readonly string[]) => all.indexOf(value) === at;

/** @throws Error for a peer that there is not. */
async function findAll({ only, python = "/usr/bin/python3", modules }: PeersOptions) {
  const unknown = only?.find((name) => !families.some((family) => family === name));
  if (unknown !== undefined) {
    throw new Error(`there is no peer "${unknown}"; there are ${families.join(", ")}`);
  }
  const present: Present[] = [];
  const missing: string[] = [];
  for (const contestant of peerContestants({ python, modules })) {
    const { name, family } = contestant;
    if (family !== "heterosgd" && only !== undefined && !only.includes(family)) continue;
    const found = await contestant.find();
    if ("version" in found) present.push({ contestant, version: found.version });
    else missing.push(`${name} is left out: ${found.missing}; to have it: ${found.install}`);
  }
  return { present, missing };
}

async function measureSet(
  set: string,
  files: readonly string[],
  present: readonly Present[],
  rounds: number,
  options: PeersOptions,
): Promise<SetResult> {
  return inFolder(async (folder) => {
    const rows = await readRows(files);
    writePeerData(folder, rows, settingsOf(options).hidden);
    const outcomes: Outcome[][] = present.map(() => []);
    const jobs = present.map(({ contestant }) =>
      jobOf(set, folder, files, rows, contestant, options),
    );
    for (let round = 0; round < rounds; round++) {
      for (const i of orderOf(round, present.length)) {
        const [first] = outcomes[i]!;
        if (round > 0 && (first === undefined || secondsOf(first) > SLOW_SECONDS)) continue;
        const { contestant } = present[i]!;
        const outcome = await tryRun(set, `round ${round + 1}`, contestant, jobs[i]!);
        if (outcome !== null) outcomes[i]!.push(outcome);
      }
    }
    const results = present.map(({ contestant: { name }, version }, i): PeerResult => {
      const { threads, rate } = jobs[i]!.settings;
      return { name, version, threads, rate, outcomes: outcomes[i]! };
    });
    return { set, results: results.filter((result) => result.outcomes.length > 0) };
  });
}

/** Tries each rate once, on held-out training rows. */
async function tuneSet(
  set: string,
  files: readonly string[],
  present: readonly Present[],
  options: PeersOptions,
): Promise<void> {
  await inFolder(async (folder) => {
    const all = (await readRows(files)).train;
    const split = splitRows(all.rows, { testFraction: HELD_OUT, seed: 1 });
    const [train, test] = [selectRows(all, split.train), selectRows(all, split.test)];
    writePeerData(folder, { train, test }, settingsOf(options).hidden);
    const held = [files[0]!, "--validation", String(HELD_OUT), "--seed", "1"];
    for (const { contestant } of present) {
      if (contestant.ratesOf !== contestant.name) continue;
      const job = jobOf(set, folder, held, { train, test }, contestant, options);
      for (const rate of gridOf(contestant.name)) {
        const settings = { ...job.settings, rate };
        await tryRun(set, `rate ${rate}`, contestant, { ...job, settings });
      }
    }
  });
}

function settingsOf(options: PeersOptions) {
  const { threads = availableParallelism(), epochs = 5, maxSeconds = 60 } = options;
  return { threads, batch: 256, hidden: 128, epochs, maxSeconds };
}

function jobOf(
  set: string,
  folder: string,
  files: readonly string[],
  { train, test }: { readonly train: Dataset; readonly test: Dataset },
  { ratesOf, maxThreads }: Contestant,
  options: PeersOptions,
): Job {
  const common = settingsOf(options);
  const threads = Math.min(common.threads, maxThreads);
  const settings = { ...common, threads, rate: rateOf(set, ratesOf) };
  return { folder, files, rows: train.rows, test, settings };
}

async function readRows([train = "", , test = ""]: readonly string[]) {
  const read = await readDatasetFile(train);
  const { features, labels } = read.dataset;
  const bounds = { features: features.columns, labels: labels.columns };
  return { train: read.dataset, test: (await readDatasetFile(test, bounds)).dataset };
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-peers-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function secondsOf({ milestones }: Outcome): number {
  return milestones.at(-1)?.seconds ?? 0;
}

/** Says how a run went. Null if a peer fails, as fastText does at rates that are too high. */
async function tryRun(
  set: string,
  what: string,
  { name, family, run }: Contestant,
  job: Job,
): Promise<Outcome | null> {
  try {
    const outcome = await run(job);
    const precision = bestPrecision(outcome)?.toFixed(4) ?? "not evaluated";
    const speed = Math.round(rowsPerSecond(outcome));
    const stopped = outcome.stopped ? ", stopped" : "";
    console.error(
      `${set}, ${what}, ${name}: ${speed} rows/s, best P@1 ${precision}, ${secondsOf(outcome).toFixed(1)} s${stopped}`,
    );
    return outcome;
  } catch (error) {
    // There is nothing to compare others with then.
    if (family === "heterosgd" || !(error instanceof Error)) throw error;
    console.error(`${set}, ${what}: ${error.message}`);
    return null;
  }
}
