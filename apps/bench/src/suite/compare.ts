/** What moved beyond the noise between two folders of results. */
import type { CellName } from "./plan.js";
import { measures, type CellResult, type Measure } from "./measures.js";
import { rangeOf, worst, type Range } from "./ranges.js";
import type { Options } from "./suite-schema.js";
import { sameCell } from "./time-left.js";

/** With fewer seeds on either side nothing is said to have moved. */
export const leastSeeds = 3;

export type Verdict = "better" | "worse" | "same" | "noise" | "too few seeds";

export interface Comparison extends CellName {
  readonly measure: Measure;
  readonly simulated: boolean;
  readonly a: Range;
  readonly b: Range;
  readonly verdict: Verdict;
}

/**
 * Something moved if all values of one side are above all of the other. If both came from the same
 * distribution, that would happen in one of C(n + m, n) / 2 comparisons of n with m seeds: one in 10
 * with three seeds each, one in 126 with five.
 */
export function verdictOf(
  a: readonly (number | null | undefined)[],
  b: readonly (number | null | undefined)[],
  measure: Pick<Measure, "better">,
): Verdict {
  const [left, right] = [rangeOf(a, measure), rangeOf(b, measure)];
  if (left === null || right === null) return "too few seeds";
  const plain = (values: readonly (number | null | undefined)[]) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => value ?? worst(measure))
      .toSorted((x, y) => x - y)
      .join();
  if (plain(a) === plain(b)) return "same";
  if (left.count < leastSeeds || right.count < leastSeeds) return "too few seeds";
  const higher = right.low > left.high;
  const lower = right.high < left.low;
  if (!higher && !lower) return "noise";
  return higher === (measure.better === "higher") ? "better" : "worse";
}

/** How often two sides of so many seeds are apart by chance. */
export function falseAlarms(n: number, m: number): number {
  let choices = 1;
  for (let i = 1; i <= n; i++) choices = (choices * (m + i)) / i;
  return Math.min(1, 2 / choices);
}

export interface Differences {
  readonly comparisons: readonly Comparison[];
  /** Cells for which tuning chose otherwise. */
  readonly retuned: readonly (CellName & { readonly a: Options; readonly b: Options })[];
  /** Cells that only one side has. */
  readonly onlyA: readonly CellName[];
  readonly onlyB: readonly CellName[];
  /** How many comparisons are expected to be called better or worse though nothing has moved. */
  readonly expectedFalseAlarms: number;
}

export function compareCells(a: readonly CellResult[], b: readonly CellResult[]): Differences {
  const comparisons = a.flatMap((left): Comparison[] => {
    const right = b.find((it) => sameCell(it, left));
    if (right === undefined) return [];
    return measures.flatMap((measure) => {
      const ranges = [left, right].map((cell) => rangeOf(cell.values[measure.name], measure));
      const [rangeA, rangeB] = ranges;
      if (!rangeA || !rangeB) return [];
      const { set, platform, algorithm, simulated } = left;
      const verdict = verdictOf(left.values[measure.name], right.values[measure.name], measure);
      return [{ set, platform, algorithm, simulated, measure, a: rangeA, b: rangeB, verdict }];
    });
  });
  const without = (these: readonly CellResult[], those: readonly CellResult[]) =>
    these
      .filter((cell) => !those.some((other) => sameCell(cell, other)))
      .map(({ set, platform, algorithm }) => ({ set, platform, algorithm }));
  const retuned = a.flatMap((left) => {
    const { set, platform, algorithm } = left;
    const right = b.find((it) => sameCell(it, left));
    if (right === undefined || JSON.stringify(right.tuned) === JSON.stringify(left.tuned))
      return [];
    return [{ set, platform, algorithm, a: left.tuned, b: right.tuned }];
  });
  const judged = comparisons.filter(({ verdict }) => !["same", "too few seeds"].includes(verdict));
  return {
    comparisons,
    retuned,
    onlyA: without(a, b),
    onlyB: without(b, a),
    expectedFalseAlarms: judged.reduce((all, it) => all + falseAlarms(it.a.count, it.b.count), 0),
  };
}
