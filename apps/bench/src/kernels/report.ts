/** What `bench kernels` tells of its measurements. */
import Table from "cli-table3";
import { peakName } from "../machine/limits.js";
import type { Timing } from "../rounds.js";
import { median, pairedRatio, spreadOf, type Spread } from "../statistics.js";
import { units, type Case, type Unit } from "./case.js";

/** One limit, one figure for each round of all cases. */
export interface LimitResult {
  readonly name: string;
  readonly unit: "GFLOP/s" | "GB/s";
  readonly values: readonly number[];
}

export interface EntrantResult {
  readonly name: string;
  readonly threads: number;
  /** Seconds of one run, one figure a round. */
  readonly timings: readonly Timing[];
  /** By the calling thread's processor time where it works alone, else by the clock. */
  readonly milliseconds: Spread;
  readonly rate: Spread;
  /** Of the limit of as many cores, null without one. */
  readonly limitShare: number | null;
  /** Against OpenBLAS with as many threads, null where it did not take part. */
  readonly timesOpenBlas: number | null;
  readonly timesPlain: number | null;
  /** More threads against the same with one. */
  readonly timesOneThread: number | null;
}

export interface CaseResult {
  readonly operation: string;
  readonly title: string;
  readonly unit: Unit;
  readonly results: readonly EntrantResult[];
}

export const openBlasNames = ["openblas", "openblas-2-threads"] as const;

/** @param limits - what the limits came to in these rounds. */
export function resultOf(
  { operation, title, unit, amount, limit }: Case,
  entrants: readonly { readonly name: string; readonly threads: number }[],
  timings: readonly (readonly Timing[])[],
  limits: ReadonlyMap<string, readonly number[]>,
): CaseResult {
  const seconds = entrants.map(({ threads }, i) =>
    timings[i]!.map((one) => secondsOf(one, threads)),
  );
  const rates = seconds.map((all) => all.map((one) => amount / one / units[unit]));
  const rateOf = (name: string) =>
    rates[entrants.findIndex((entrant) => entrant.name === name)] ?? [];
  const best = limitOf(limit, limits);
  const results = entrants.map(({ name, threads }, i): EntrantResult => {
    const ratio = (base: string) => (base === name ? null : pairedRatio(rates[i]!, rateOf(base)));
    return {
      name,
      threads,
      timings: timings[i]!,
      milliseconds: spreadOf(seconds[i]!.map((one) => 1000 * one)),
      rate: spreadOf(rates[i]!),
      limitShare: best === null ? null : median(rates[i]!) / (best * threads),
      timesOpenBlas: ratio(openBlasNames[threads - 1] ?? ""),
      timesPlain: ratio("plain"),
      timesOneThread: threads === 1 ? null : ratio(singleOf(name, entrants)),
    };
  });
  return { operation, title, unit, results };
}

function secondsOf({ wall, thread }: Timing, threads: number): number {
  return threads === 1 ? (thread ?? wall) : wall;
}

/** The median of a limit; of the peaks, the highest. Null where it was not measured. */
function limitOf(
  limit: Case["limit"],
  limits: ReadonlyMap<string, readonly number[]>,
): number | null {
  const names = limit === "peak" ? ["avx512", "avx2", "portable"].map(peakName) : [limit ?? ""];
  const medians = names.flatMap((name) => {
    const values = limits.get(name) ?? [];
    return values.length === 0 ? [] : [median(values)];
  });
  return medians.length === 0 ? null : Math.max(...medians);
}

/** The one-thread entry of an entry with several; the native kernels' default is the fastest. */
function singleOf(name: string, entrants: readonly { readonly name: string }[]): string {
  const bare = name.replace("-2-threads", "");
  if (bare !== "native") return bare;
  const isas = ["avx512", "avx2", "portable"].map((isa) => `native-${isa}`);
  return isas.find((isa) => entrants.some((entrant) => entrant.name === isa)) ?? bare;
}

export function describeCase({ title, unit, results }: CaseResult): string {
  const table = new Table({
    head: [
      "implementation",
      "ms",
      unit,
      "p10–p90",
      "of limit",
      "× OpenBLAS",
      "× plain",
      "× 1 thread",
    ],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "right"],
  });
  for (const one of results) {
    table.push([
      one.name,
      figure(one.milliseconds.median),
      figure(one.rate.median),
      `${figure(one.rate.low)}–${figure(one.rate.high)}`,
      one.limitShare === null ? "" : `${(100 * one.limitShare).toFixed(0)} %`,
      ...[one.timesOpenBlas, one.timesPlain, one.timesOneThread].map((ratio) =>
        ratio === null ? "" : figure(ratio),
      ),
    ]);
  }
  return `${title}\n${table.toString()}`;
}

export function describeLimits(limits: readonly LimitResult[]): string {
  const table = new Table({
    head: ["one core's limit", "", "median", "p10–p90"],
    style: { head: [], border: [] },
    colAligns: ["left", "left", "right", "right"],
  });
  for (const { name, unit, values } of limits) {
    const { median: middle, low, high } = spreadOf(values);
    table.push([name, unit, figure(middle), `${figure(low)}–${figure(high)}`]);
  }
  return table.toString();
}

/** Three digits or so. */
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
