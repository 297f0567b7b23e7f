/** What is told of a cell: one value a seed for each measure. */
import { sum } from "../statistics.js";
import type { CellName } from "./plan.js";
import { normalizedLoss } from "./normalized-loss.js";
import type { Results } from "./results-folder.js";
import { bestPrecision, secondsTo, type RunRecord } from "./run-record.js";
import type { Goal, Options } from "./suite-schema.js";
import type { Suite } from "./suite-file.js";
import { sameCell } from "./time-left.js";

export type MeasureName =
  | "bestPrecision"
  | "finalPrecision"
  | "finalLoss"
  | "secondsToGoal"
  | "seconds"
  | "waiting";

export interface Measure {
  readonly name: MeasureName;
  readonly words: string;
  readonly better: "higher" | "lower";
  readonly unit: "share" | "seconds" | "percent" | "loss" | "factor";
}

export const measures: readonly Measure[] = [
  { name: "bestPrecision", words: "best P@1", better: "higher", unit: "share" },
  { name: "finalPrecision", words: "P@1 at the end", better: "higher", unit: "share" },
  { name: "finalLoss", words: "training loss at the end", better: "lower", unit: "loss" },
  { name: "secondsToGoal", words: "time to the goal", better: "lower", unit: "seconds" },
  { name: "seconds", words: "time of the run", better: "lower", unit: "seconds" },
  { name: "waiting", words: "waiting", better: "lower", unit: "percent" },
];

/** An algorithm's runs with one data set on one platform, over the seeds. */
export interface CellResult extends CellName {
  readonly seeds: readonly number[];
  readonly tuned: Options;
  readonly simulated: boolean;
  /**
   * A value a seed: null where there is none, because training diverged or a goal was not reached;
   * of `secondsToGoal` undefined where there is no goal to reach.
   */
  readonly values: Readonly<Record<MeasureName, readonly (number | null | undefined)[]>>;
  /**
   * A value a seed: how many times as fast as the goal's algorithm the goal was reached, 0 where it
   * was not. Undefined where there is no such goal, or nothing to reach.
   */
  readonly speedups: readonly (number | undefined)[];
  /** Training loss at the suite's shares of time, as `lossesOf` tells it: a list a share. */
  readonly losses: readonly (readonly (number | null)[])[];
  /** Each device's part of all updates, and of its time that it trained: medians over the seeds. */
  readonly devices: readonly DeviceParts[];
}

export interface DeviceParts {
  readonly name: string;
  readonly updates: readonly number[];
  readonly busy: readonly number[];
}

/** The results of the runs on test rows, in the suite's order. */
export function measureCells({ suite, records }: Results): readonly CellResult[] {
  const tests = records.filter(({ stage }) => stage === "test");
  return suite.sets.flatMap((set) =>
    suite.platforms.flatMap((platform) =>
      suite.algorithms.flatMap((algorithm) => {
        const name = { set: set.name, platform: platform.name, algorithm: algorithm.name };
        const own = tests
          .filter((record) => sameCell(record, name))
          .toSorted((a, b) => a.seed - b.seed);
        return own.length === 0 ? [] : [measureCell(name, own, tests, suite)];
      }),
    ),
  );
}

function measureCell(
  name: CellName,
  own: readonly RunRecord[],
  tests: readonly RunRecord[],
  { goal, losses = [] }: Pick<Suite, "goal" | "losses">,
): CellResult {
  const point = ({ result }: RunRecord) => result?.curve.at(-1);
  return {
    ...name,
    seeds: own.map(({ seed }) => seed),
    tuned: own[0]!.tuned,
    simulated: own[0]!.verb === "simulate",
    values: {
      bestPrecision: own.map(bestPrecision),
      finalPrecision: own.map((record) => point(record)?.precision[0] ?? null),
      finalLoss: own.map((record) => point(record)?.loss ?? null),
      secondsToGoal: own.map((record) => {
        const target = targetOf(goal, record, tests);
        return target === undefined ? undefined : secondsTo(target, record);
      }),
      seconds: own.map(({ result }) => result?.seconds ?? null),
      waiting: own.map(waitingOf),
    },
    speedups: own.map((record) => speedupOf(goal, record, tests)),
    losses: losses.map((share) =>
      own.map((record) => {
        const reference = referenceOf(goal, record, tests);
        const alike = tests.filter((it) => isAlike(it, record));
        return normalizedLoss(record, share * (reference?.result?.seconds ?? NaN), alike);
      }),
    ),
    devices: partsOf(own),
  };
}

/** Same data, platform and seed: the same initial weights. */
function isAlike(a: RunRecord, b: RunRecord): boolean {
  return a.set === b.set && a.platform === b.platform && a.seed === b.seed;
}

/** The run with which a run is compared: the goal's algorithm's of the same seed. */
function referenceOf(
  goal: Goal,
  record: RunRecord,
  tests: readonly RunRecord[],
): RunRecord | undefined {
  if (goal === undefined || !("bestOf" in goal)) return undefined;
  return tests.find((it) => isAlike(it, record) && it.algorithm === goal.bestOf);
}

/** The P@1 to reach; undefined where there is none. */
export function targetOf(
  goal: Goal,
  record: RunRecord,
  tests: readonly RunRecord[],
): number | undefined {
  if (goal === undefined) return undefined;
  if ("precision" in goal) return goal.precision;
  const reference = referenceOf(goal, record, tests);
  const best = reference && bestPrecision(reference);
  return best === undefined || best === null ? undefined : (goal.share ?? 1) * best;
}

/** What the goal is a part of, in words: of what some algorithm reaches; null where it is a number. */
export function bestWords(goal: Goal | null): string | null {
  if (goal === undefined || goal === null || !("bestOf" in goal)) return null;
  const { bestOf, share } = goal;
  return `${share === undefined ? "" : `${Number((100 * share).toFixed(1))} % of `}the best P@1 of ${bestOf}`;
}

function speedupOf(goal: Goal, record: RunRecord, tests: readonly RunRecord[]): number | undefined {
  const reference = referenceOf(goal, record, tests);
  const target = targetOf(goal, record, tests);
  if (reference === undefined || target === undefined) return undefined;
  const seconds = secondsTo(target, record);
  return seconds === null ? 0 : secondsTo(target, reference)! / seconds;
}

/** The part of all devices' time that they wait. */
function waitingOf({ result }: RunRecord): number | null {
  const usages = result?.devices.flatMap(({ usage }) => usage ?? []) ?? [];
  const total = sum(usages.map((usage) => sum(Object.values(usage))));
  return total === 0 ? null : sum(usages.map(({ waiting }) => waiting)) / total;
}

function partsOf(records: readonly RunRecord[]): readonly DeviceParts[] {
  const results = records.flatMap(({ result }) => result ?? []);
  return (results[0]?.devices ?? []).map(({ name }, i) => ({
    name,
    updates: results.flatMap(({ devices }) => {
      const all = sum(devices.map(({ updates }) => updates));
      return devices[i] === undefined || all === 0 ? [] : devices[i].updates / all;
    }),
    busy: results.flatMap(({ devices }) => {
      const usage = devices[i]?.usage;
      if (!usage) return [];
      const all = sum(Object.values(usage));
      return all === 0 ? [] : usage.training / all;
    }),
  }));
}
