/** `bench run SUITE`: tunes, runs on the test rows, and sums up; goes on where it was stopped. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { environment } from "../environment.js";
import { CommandFailure, commandVersion, dataFolder, runByCommand } from "../run-command.js";
import { chooseTuned } from "./choose-tuned.js";
import { interleaved } from "./interleaved.js";
import { parallel } from "./parallel.js";
import {
  cellsOf,
  choicesOf,
  nameOf,
  onlyOf,
  testRuns,
  tuningRuns,
  type Cell,
  type PlannedRun,
} from "./plan.js";
import { showProgress, type Progress } from "./progress.js";
import {
  isOfOtherSuite,
  openFolder,
  otherCommand,
  readRecord,
  readResults,
  runPath,
  standingOf,
  writeJson,
  writeWhole,
} from "./results-folder.js";
import { commandOf, resultOf, type RunRecord } from "./run-record.js";
import { Stopped, stopOnSignals } from "./stop-on-signals.js";
import { readSuite, type Suite } from "./suite-file.js";
import { SuiteError } from "./suite-error.js";
import type { Options } from "./suite-schema.js";
import { summarize, summaryMarkdown, summaryText } from "./summary.js";

export interface RunSuiteOptions {
  readonly out?: string;
  readonly data?: string;
  readonly only?: readonly string[];
  readonly seeds?: readonly number[];
  readonly jobs?: number;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** What all runs of one call share. */
interface Session {
  readonly suite: Suite;
  /** The suite with all its parts, whichever are to be run. */
  readonly whole: Suite;
  readonly folder: string;
  /** The data folder; null where no set is in it. */
  readonly data: string | null;
  readonly jobs: number;
  readonly replace: boolean;
  readonly commit: string | null;
  readonly versions: RunRecord["versions"];
  readonly progress: Progress;
  /** Runs of other code that were left as they are. */
  readonly older: Set<string>;
  /** Ends the runs under way. */
  readonly signal: AbortSignal;
}

export async function runSuite(
  told: string,
  { out, data, only = [], seeds, jobs, replace = false, json = false }: RunSuiteOptions,
): Promise<void> {
  checkSeeds(seeds);
  const whole = readSuite(told);
  const suite = { ...onlyOf(whole, only), ...(seeds === undefined ? {} : { seeds: [...seeds] }) };
  const folder = resolve(out ?? join("runs", "bench", suite.name));
  const place = suite.sets.some(({ files }) => files === null) ? foundDataFolder(data) : null;
  const cells = cellsOf(suite);
  const tuning = cells.map((cell) => tuningRuns(suite, cell, place));
  const parts = jobsFor(suite, jobs);
  const planned = cells.flatMap((cell, i) => [
    ...tuning[i]!,
    ...suite.seeds.map(() => nameOf(cell)),
  ]);
  const stop = stopOnSignals();
  const session: Session = {
    suite,
    whole,
    folder,
    data: place,
    jobs: parts,
    replace,
    commit: environment().commit,
    versions: { heterosgd: commandVersion(), node: process.versions.node },
    progress: showProgress(planned, parts),
    older: new Set(),
    signal: stop.signal,
  };
  if (isOfOtherSuite(folder, whole)) {
    session.progress.note(`the suite has changed since the earlier runs in ${folder}`);
  }
  try {
    const trials = await runAll(session, interleaved(tuning));
    const tests = cells.map((cell, i) => testsOf(session, cell, tuning[i]!, trials));
    const records = await runAll(session, interleaved(tests));
    const finished = [...records.values()].filter(({ result }) => result !== null);
    report(session, finished.length < cells.length * suite.seeds.length, json);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    session.progress.close();
    console.error(`stopped; the same command goes on with what is missing in ${folder}`);
    process.exitCode = error.exitCode;
  } finally {
    session.progress.close();
    stop.dispose();
  }
}

function foundDataFolder(told: string | undefined): string {
  try {
    return dataFolder(told);
  } catch (error) {
    throw new SuiteError((error as Error).message, { cause: error });
  }
}

function checkSeeds(seeds: readonly number[] | undefined): void {
  const wrong = seeds?.find((seed) => !(Number.isSafeInteger(seed) && seed >= 0));
  if (wrong === undefined) return;
  throw new SuiteError("--seeds: expected whole numbers of at least 0, separated by commas");
}

/** Real runs have the machine to themselves; a simulated run takes one core. */
function jobsFor(suite: Suite, told: number | undefined): number {
  if (told !== undefined && !(Number.isSafeInteger(told) && told >= 1)) {
    throw new SuiteError(`--jobs is ${told}; it must be a whole number of at least 1`);
  }
  const isReal = suite.platforms.some(({ profile }) => profile === undefined);
  if (isReal && told !== undefined && told > 1) {
    throw new SuiteError("--jobs: real runs must have the machine to themselves; leave it out");
  }
  return isReal ? 1 : (told ?? availableParallelism());
}

/** A cell's runs on test rows with the options that tuning chose: none where everything diverged. */
function testsOf(
  { suite, data, progress }: Session,
  cell: Cell,
  tuning: readonly PlannedRun[],
  trials: ReadonlyMap<string, RunRecord>,
): readonly PlannedRun[] {
  const combinations = choicesOf(suite, cell);
  const own = tuning.map(({ file }) => trials.get(file)!);
  const tuned: Options | null =
    own.length === 0 ? combinations[0]! : chooseTuned(combinations, own);
  if (tuned !== null) return testRuns(suite, cell, data, tuned);
  const { set, platform, algorithm } = nameOf(cell);
  progress.note(`${set}, ${platform}, ${algorithm}: training diverged with all options tried`);
  progress.drop(suite.seeds.map(() => nameOf(cell)));
  return [];
}

/** @returns the runs' records by file. @throws SuiteError, CommandFailure */
async function runAll(
  session: Session,
  runs: readonly PlannedRun[],
): Promise<ReadonlyMap<string, RunRecord>> {
  const records = new Map<string, RunRecord>();
  const missing: PlannedRun[] = [];
  for (const run of runs) {
    const record = finishedRecord(session, run);
    if (record === null) missing.push(run);
    else {
      records.set(run.file, record);
      session.progress.finished(run, record, false);
    }
  }
  // Not before: a folder that is refused stays as it is.
  openFolder(session.folder, session.whole);
  await parallel(missing, session.jobs, async (run) => {
    const record = await runOne(session, run);
    records.set(run.file, record);
    writeJson(runPath(session.folder, run), record);
    session.progress.finished(run, record, true);
  });
  return records;
}

/** What an earlier call has left of a run; null if it has to be run. @throws SuiteError */
function finishedRecord(session: Session, run: PlannedRun): RunRecord | null {
  const { folder, data, commit, versions, replace, older } = session;
  const path = runPath(folder, run);
  const record = readRecord(path);
  const command = commandOf(run, data);
  const standing = standingOf(record, { command, commit, versions });
  if (standing === "finished") return record;
  if (standing === "missing" || replace) return null;
  if (standing === "other-command") {
    throw new SuiteError(otherCommand(path, record!.command, command));
  }
  older.add(run.file);
  return record;
}

async function runOne(session: Session, run: PlannedRun): Promise<RunRecord> {
  const { suite, data, jobs, versions } = session;
  const where = environment();
  const startedAt = new Date();
  const began = performance.now();
  const { args, ...identity } = run;
  const record = (outcome: Pick<RunRecord, "diverged" | "result">): RunRecord => ({
    format: 1,
    suite: suite.name,
    ...identity,
    command: commandOf(run, data),
    environment: where,
    versions,
    startedAt: startedAt.toISOString(),
    wallSeconds: (performance.now() - began) / 1000,
    jobs,
    ...outcome,
  });
  try {
    const finished = await runByCommand(run.verb, args, {}, session.signal);
    return record({ diverged: null, result: resultOf(finished) });
  } catch (error) {
    const complaints = error instanceof CommandFailure ? error.complaints : "";
    // A learning rate that is too high is a result of tuning; anything else ends the suite.
    if (!complaints.includes("[DIVERGED]")) throw error;
    return record({ diverged: complaints.trim(), result: null });
  }
}

/** Of all that the folder holds, whatever this call was about. */
function report({ folder, older, progress }: Session, fails: boolean, json: boolean): void {
  const summary = summarize(readResults(folder));
  writeJson(join(folder, "summary.json"), summary);
  writeWhole(join(folder, "summary.md"), summaryMarkdown(summary));
  progress.close();
  if (older.size > 0) {
    console.error(
      `note: ${older.size} runs are of another commit or version than this one and were not run again; --replace does`,
    );
  }
  if (json) console.log(readFileSync(join(folder, "summary.json"), "utf8").trimEnd());
  else {
    console.log(summaryText(summary));
    console.log(`${folder}: summary.md, summary.json, and a file for each run`);
    console.log(`npm run bench -- report ${folder} draws them`);
  }
  if (fails) process.exitCode = 1;
}
