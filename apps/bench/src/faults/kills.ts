/** Processes that are killed as by `kill -9`, and runs that go on from there. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "@heterosgd/sparse";
import { algorithmNames, epochsOf } from "./algorithm-runs.js";
import { checkpointProblems, messageOf, readFinished, sameModel } from "./checks.js";
import type { PhaseTimes, Reference } from "./references.js";
import {
  outcomeOf,
  phases,
  skippedOutcome,
  watchedPhases,
  type Outcome,
  type Scenario,
} from "./scenario.js";
import { preloading, runTrain, takeMark } from "./train-process.js";
import type { Workplace } from "./workplace.js";

/** So often it is tried to kill a process before it ends by itself. */
const ATTEMPTS = 8;

/** P@1 may differ from that of runs without faults by so much, and twice what those differ by. */
const PRECISION_NOISE = 0.05;

export async function kill(
  { algorithm, kind, devices, resumeOn = devices, seed }: Scenario,
  workplace: Workplace,
): Promise<Outcome> {
  const { signal } = workplace;
  const folder = workplace.scenarioFolder(`kill ${algorithm} ${kind}`);
  const run = join(folder, "run");
  const reference = await workplace.reference(algorithm, devices);
  const stream = [algorithmNames.indexOf(algorithm), phases.findIndex((it) => it === kind)];
  const random = createRandom(seed, ...stream);
  const problems: string[] = [];
  const struck: string[] = [];
  const killIn = async (phase: string) => {
    const args = workplace.trainArguments(algorithm, devices, run);
    const isNew = phase !== "resuming";
    const where = await killOnce(args, { folder, run, phase, isNew, reference, random, signal });
    if (where === null) return false;
    struck.push(where);
    problems.push(...(await checkpointProblems(run)));
    return true;
  };
  if (kind === "merging" && timesOf(kind, reference).entered === 0) {
    return skippedOutcome("nothing is merged");
  }
  const missed = `it could not be killed while ${kind}`;
  try {
    const isResumed = kind !== "resuming" || (await killIn("training"));
    const skipped = isResumed && (await killIn(kind)) ? null : missed;
    if (struck.length === 0) return skippedOutcome(missed);
    const args = workplace.trainArguments(algorithm, resumeOn, run);
    const { code, stderr } = await runTrain(args, { folder, signal });
    if (code !== 0) throw new Error(`it did not go on (${code}): ${stderr}`);
    const { parameters, precision, ...counts } = await readFinished(run, epochsOf(algorithm));
    problems.push(...(await checkpointProblems(run)));
    const least = leastPrecision(reference);
    if (precision < least) problems.push(`P@1 is ${precision}, expected at least ${least}`);
    const isExpected = devices === 1 && resumeOn === 1 && reference.repeats;
    const repeats = isExpected ? sameModel(parameters, reference.parameters) : null;
    const found = { ...counts, repeats, problems, skipped };
    const outcome = outcomeOf(struck.length, struck.join(", then "), found);
    if (outcome.survived === outcome.injected) rmSync(folder, { recursive: true });
    return outcome;
  } catch (error) {
    problems.push(messageOf(error));
    const counts = { lost: 0, doubled: 0, repeats: null };
    return outcomeOf(Math.max(1, struck.length), struck.join(", then "), { ...counts, problems });
  }
}

function leastPrecision({ precisions }: Pick<Reference, "precisions">): number {
  const [low, high] = [Math.min(...precisions), Math.max(...precisions)];
  return low - PRECISION_NOISE - 2 * (high - low);
}

interface Aim {
  readonly folder: string;
  readonly run: string;
  readonly phase: string;
  /** Whether the run begins; else it goes on. */
  readonly isNew: boolean;
  readonly reference: Reference;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Runs the command until it is killed in the phase; returns in which phases it was killed, null if it always ended
 * before.
 */
async function killOnce(args: readonly string[], aim: Aim): Promise<string | null> {
  const { folder, run, phase, isNew, reference, random, signal } = aim;
  const mark = join(folder, "mark.json");
  const { entered, ms } = timesOf(phase, reference);
  const before = join(folder, "before");
  if (!isNew) cpSync(run, before, { recursive: true, preserveTimestamps: true });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Sooner each time: a run may be faster than that without faults.
    const share = random.nextFloat() / (1 + attempt);
    const ended =
      phase === "anywhere"
        ? await runTrain(args, { folder, signal, killAfterMs: share * reference.seconds * 1000 })
        : await runTrain(args, {
            folder,
            signal,
            environment: preloading("kill-process", {
              phases: watchedPhases,
              phase,
              entry: 1 + Math.floor(share * entered),
              delayMs: (random.nextFloat() * ms) / Math.max(1, entered) / (1 + attempt),
              mark,
            }),
          });
    const left = takeMark(mark) as { readonly killed: readonly string[] | null } | null;
    if (ended.signal === "SIGKILL") return left?.killed?.join(" and ") ?? "anywhere";
    if (ended.code !== 0) throw new Error(`it failed (${ended.code}): ${ended.stderr}`);
    rmSync(run, { recursive: true, force: true });
    if (!isNew) cpSync(before, run, { recursive: true, preserveTimestamps: true });
  }
  return null;
}

function timesOf(phase: string, { phases: times }: Reference): PhaseTimes {
  if (phase !== "resuming") return times[phase] ?? { entered: 1, ms: 0 };
  // A resumed process does all that another does before it trains.
  return { entered: 1, ms: times["loading"]!.ms + times["opening"]!.ms };
}
