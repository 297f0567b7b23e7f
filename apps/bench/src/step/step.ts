/**
 * One whole training step, heterosgd's and PyTorch's, each in a process of its own: the same data,
 * the same initial weights, the same losses; round by round.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeEnvironment, environment } from "../environment.js";
import { loadHelpers } from "../machine/helpers.js";
import { processorIsas } from "../machine/isas.js";
import { peakMeters, type LimitMeter } from "../machine/limits.js";
import { CALM_MS, orderOf } from "../rounds.js";
import { chooseContestants, stepContestants, type Contestant } from "./contestants.js";
import { startLineProcess, type LineProcess } from "./line-process.js";
import type { MemoryAnswer, Ready, StepsAnswer, StepsQuestion, Unable } from "./protocol.js";
import { describeSet, type ContestantResult, type SetResult } from "./step-report.js";
import { writeStepData, type StepShape } from "./step-data.js";

export interface StepOptions {
  /** Of small, medium, large; all by default. */
  readonly sets?: readonly string[];
  /** Default 9, after one that does not count. */
  readonly rounds?: number;
  /** Contestants; by default all but the plain kernels. */
  readonly only?: readonly string[];
  /** The interpreter that has PyTorch. Default /usr/bin/python3. */
  readonly python?: string;
  readonly json?: boolean;
}

const common = { hidden: 128, rows: 256, nonZeros: 76, batches: 8 };

/** Sizes after public data sets; the largest is Amazon-670k's. */
const stepSets: Readonly<Record<string, StepShape>> = {
  small: { ...common, features: 10_000, labels: 2000 },
  medium: { ...common, features: 100_000, labels: 50_000 },
  large: { ...common, features: 135_909, labels: 670_091 },
};

/** What the compared steps do: the same batch again and again, at a rate that shows in the loss. */
const trial: StepsQuestion = { steps: 3, learningRate: 20, batch: 0 };
/** What is timed: so small a rate that weights stay what they are. */
const timed = { learningRate: 1e-3, batch: null };
/** Largest relative difference of a loss. */
const TOLERANCE = 1e-3;
const BF16_TOLERANCE = 1e-2;
/** How long a contestant runs in a round, two steps at least. */
const SECONDS = 0.4;

/** One that runs. */
interface Running {
  readonly contestant: Contestant;
  readonly what: Ready;
  readonly process: LineProcess;
  readonly losses: readonly number[];
}

/** @throws Error if contestants compute different losses. */
export async function step(options: StepOptions): Promise<void> {
  const { sets = Object.keys(stepSets), rounds = 9, only, json = false } = options;
  const python = options.python ?? "/usr/bin/python3";
  const unknown = sets.find((name) => !Object.hasOwn(stepSets, name));
  if (unknown !== undefined) {
    throw new Error(`there is no set "${unknown}"; there are ${Object.keys(stepSets).join(", ")}`);
  }
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new RangeError(`rounds must be a whole number from 1 on, received ${rounds}`);
  }
  const contestants = chooseContestants(stepContestants(python), only);
  const where = environment();
  const peak = peakMeter();
  const results: SetResult[] = [];
  for (const name of sets) {
    const result = await measureSet(name, stepSets[name]!, contestants, rounds, { peak });
    results.push(result);
    if (!json) console.log(describeSet(result));
  }
  const command = ["npm run bench --", ...process.argv.slice(2)].join(" ");
  if (json) {
    console.log(JSON.stringify({ command, environment: where, rounds, results }, null, 2));
    return;
  }
  console.log(`${rounds} rounds; medians by the clock unless said otherwise`);
  console.log(describeEnvironment(where));
  console.log(command);
}

/** Measures the highest rate of one core, where there is a compiler. */
function peakMeter(): LimitMeter | Unable {
  try {
    return peakMeters(loadHelpers(processorIsas().slice(0, 1)))[0]!;
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Measures one size, round by round.
 *
 * @param options.peak - measures the highest rate of one core.
 * @param options.signal - kills all that takes part; what was asked of them is then an error.
 * @throws Error if contestants compute different losses.
 */
export async function measureSet(
  name: string,
  shape: StepShape,
  contestants: readonly Contestant[],
  rounds: number,
  { peak, signal }: { readonly peak?: LimitMeter | Unable; readonly signal?: AbortSignal },
): Promise<SetResult> {
  const folder = mkdtempSync(join(tmpdir(), "heterosgd-bench-"));
  const running: Running[] = [];
  const missing = peak && "missing" in peak ? [{ name: "peak", reason: peak.missing }] : [];
  try {
    writeStepData(folder, shape);
    for (const contestant of contestants) {
      const started = await start(contestant, folder, signal);
      if ("process" in started) running.push(started);
      else missing.push({ name: contestant.name, reason: started.missing });
    }
    requireSameLosses(running);
    const peaks: number[] = [];
    const answers = await runRounds(running, rounds, () => {
      if (peak && "measure" in peak) peaks.push(peak.measure());
    });
    const results: ContestantResult[] = [];
    for (const [i, { contestant, what, process: child }] of running.entries()) {
      const memory = (await child.ask({ memory: true })) as MemoryAnswer;
      const { name: of, threads, bf16, ours } = contestant;
      const documented = what.documented ?? null;
      const runs = what.ready;
      results.push({ name: of, threads, bf16, ours, runs, documented, memory, steps: answers[i]! });
    }
    return { name, shape, results, missing, peaks };
  } finally {
    await Promise.all(running.map(({ process: child }) => child.close()));
    rmSync(folder, { recursive: true });
  }
}

/** Starts one and has it take the steps that all are compared by. */
async function start(
  contestant: Contestant,
  folder: string,
  signal?: AbortSignal,
): Promise<Running | Unable> {
  let child: LineProcess;
  try {
    child = await startLineProcess(contestant.command(folder), contestant.environment, signal);
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
  const what = child.first as Ready | Unable;
  if ("missing" in what) {
    await child.close();
    return what;
  }
  try {
    const { losses } = (await child.ask(trial)) as StepsAnswer;
    return { contestant, what, process: child, losses };
  } catch (error) {
    // It may be out of memory, say: the others go on.
    await child.close();
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/** Speed counts only for the same work. @throws Error that names the one that differs. */
function requireSameLosses(running: readonly Running[]): void {
  const [first] = running;
  for (const { contestant, losses } of running) {
    const tolerance = contestant.bf16 || first!.contestant.bf16 ? BF16_TOLERANCE : TOLERANCE;
    if (!sameLosses(losses, first!.losses, tolerance)) {
      throw new Error(
        `${contestant.name} and ${first!.contestant.name} do not do the same: losses ${losses.join(", ")} and ${first!.losses.join(", ")}`,
      );
    }
  }
}

export function sameLosses(
  losses: readonly number[],
  expected: readonly number[],
  tolerance: number,
): boolean {
  return (
    losses.length === expected.length &&
    losses.every((loss, i) => Math.abs(loss - expected[i]!) <= tolerance * Math.abs(expected[i]!))
  );
}

/** What each answered in each round that counts, divided by its steps. */
async function runRounds(
  running: readonly Running[],
  rounds: number,
  onRound: () => void,
): Promise<readonly (readonly StepsAnswer[])[]> {
  const run = async ({ process: child, contestant }: Running, steps: number) => {
    const answer = (await child.ask({ ...timed, steps })) as StepsAnswer;
    if (contestant.threads > 1) await sleep(CALM_MS);
    return { wall: answer.wall / steps, cpu: answer.cpu / steps, losses: answer.losses };
  };
  const steps: number[] = [];
  for (const one of running) {
    const { wall } = await run(one, 2);
    steps.push(Math.max(2, Math.ceil(SECONDS / wall)));
  }
  const answers: StepsAnswer[][] = running.map(() => []);
  for (let round = 0; round < rounds; round++) {
    onRound();
    for (const i of orderOf(round, running.length)) {
      answers[i]!.push(await run(running[i]!, steps[i]!));
    }
  }
  return answers;
}
