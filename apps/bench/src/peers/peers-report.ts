/** The tables of `bench peers`. */
import type { Cells } from "../suite/tables.js";
import { base } from "./contestants.js";
import { bestPrecision, rowsPerSecond, secondsTo, type Outcome } from "./outcome.js";

/** All runs of one contestant on a set, round by round; a slow one has fewer. */
export interface PeerResult {
  readonly name: string;
  readonly version: string;
  readonly threads: number;
  readonly rate: number;
  readonly outcomes: readonly Outcome[];
}

export interface SetResult {
  readonly set: string;
  readonly results: readonly PeerResult[];
}

/** A share of heterosgd's median best P@1 is what all are timed to. */
const SHARE = 0.98;

/** What is measured of a run. `more` says whether more of it is better. */
interface Measure {
  readonly of: (outcome: Outcome) => number | null;
  readonly show: (value: number) => string;
  readonly more: boolean;
}

/** The P@1 that all are timed to, null where heterosgd was not evaluated. */
export function targetOf({ results }: SetResult): number | null {
  const ours = results.find(({ name }) => name === base);
  const best = ours?.outcomes.flatMap((outcome) => bestPrecision(outcome) ?? []) ?? [];
  return best.length === 0 ? null : SHARE * median(best);
}

function measuresOf(target: number | null) {
  const precise: Measure = { of: bestPrecision, show: (value) => value.toFixed(3), more: true };
  const fast: Measure = { of: rowsPerSecond, show: formatRows, more: true };
  const soon: Measure = {
    of: (outcome) => {
      if (target === null) return null;
      const seconds = secondsTo(target, outcome);
      // Nobody knows what a run that was stopped would have come to.
      return outcome.stopped && seconds === Infinity ? null : seconds;
    },
    show: formatSeconds,
    more: false,
  };
  const lean: Measure = { of: ({ peak }) => peak, show: formatBytes, more: false };
  return { fast, soon, precise, lean };
}

/** A row a contestant: medians over the rounds, with the lowest and the highest. */
export function peerCells(result: SetResult): Cells {
  const target = targetOf(result);
  const { fast, soon, precise, lean } = measuresOf(target);
  const ours = result.results.find(({ name }) => name === base)!;
  const goal = target === null ? "time to P@1" : `time to P@1 ≥ ${target.toFixed(3)}`;
  return {
    head: [
      result.set,
      "threads",
      "rate",
      "rounds",
      "rows/s",
      `× ${base}`,
      "best P@1",
      goal,
      `× ${base}`,
      "peak memory",
      `× ${base}`,
    ],
    rows: result.results.map((one) => [
      `${one.name}${one.outcomes.some(({ stopped }) => stopped) ? " (stopped)" : ""}`,
      String(one.threads),
      String(one.rate),
      String(one.outcomes.length),
      spreadText(valuesOf(one, fast), fast.show),
      ratioText(one, ours, fast),
      spreadText(valuesOf(one, precise), precise.show),
      spreadText(valuesOf(one, soon), soon.show),
      ratioText(one, ours, soon),
      spreadText(valuesOf(one, lean), lean.show),
      ratioText(one, ours, lean),
    ]),
  };
}

/** Which peers beat heterosgd at what, by the medians: a line for each measure at which any does. */
export function beatenLines(result: SetResult): readonly string[] {
  const { fast, soon, precise, lean } = measuresOf(targetOf(result));
  const named = [
    ["more rows a second", fast],
    ["the P@1 sooner", soon],
    ["a higher P@1", precise],
    ["less memory", lean],
  ] as const;
  const ours = result.results.find(({ name }) => name === base)!;
  return named.flatMap(([words, measure]) => {
    const mine = medianOf(ours, measure);
    const better = result.results.filter((one) => {
      const theirs = medianOf(one, measure);
      if (one.name.startsWith(base) || theirs === null || mine === null) return false;
      return measure.more ? theirs > mine : theirs < mine;
    });
    if (better.length === 0) return [];
    return [`${result.set}: ${words} than ${base}: ${better.map(({ name }) => name).join("; ")}`];
  });
}

function valuesOf({ outcomes }: PeerResult, { of }: Measure): readonly number[] {
  return outcomes.flatMap((outcome) => of(outcome) ?? []);
}

function medianOf(result: PeerResult, measure: Measure): number | null {
  const values = valuesOf(result, measure);
  return values.length === 0 ? null : median(values);
}

function spreadText(values: readonly number[], show: (value: number) => string): string {
  if (values.length === 0) return "–";
  const [low, high] = [Math.min(...values), Math.max(...values)].map(show);
  const middle = show(median(values));
  return low === high ? middle : `${middle} (${low}–${high})`;
}

/** Round by round, so that what slows a whole round down changes nothing. */
function ratioText(one: PeerResult, ours: PeerResult, { of }: Measure): string {
  if (one === ours) return "1";
  const ratios = one.outcomes.flatMap((outcome, round) => {
    const [theirs, mine] = [of(outcome), of(ours.outcomes[round]!)];
    return theirs === null || mine === null || mine === Infinity ? [] : [theirs / mine];
  });
  return spreadText(ratios, (value) => (value === Infinity ? "never" : value.toPrecision(2)));
}

function formatRows(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function formatSeconds(value: number): string {
  return value === Infinity ? "never" : `${value.toPrecision(3)} s`;
}

function formatBytes(value: number): string {
  return `${Math.round(value / 2 ** 20)} MiB`;
}

/** The middle value, or the mean of the two in the middle; infinite ones count as the largest. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
  return low === high ? low : (low + high) / 2;
}
