/** The tables of a data set on a platform. */
import { median } from "../statistics.js";
import {
  bestWords,
  measures,
  type CellResult,
  type DeviceParts,
  type MeasureName,
} from "./measures.js";
import { optionWords } from "./plan.js";
import { rangeOf, rangeWords, type Range } from "./ranges.js";
import type { Goal } from "./suite-schema.js";
import type { Cells } from "./tables.js";

type Column = readonly [head: string, words: (cell: CellResult) => string];

export function resultTable(cells: readonly CellResult[], goal: NonNullable<Goal> | null): Cells {
  const simulated = cells.some((cell) => cell.simulated) ? ", simulated" : "";
  const bestOf = goal !== null && "bestOf" in goal ? goal.bestOf : null;
  const plain = (name: MeasureName) => (cell: CellResult) =>
    rangeWords(measured(cell, name), measureOf(name));
  return tableOf(cells, [
    ["algorithm", ({ algorithm }) => algorithm],
    ["tuned", ({ tuned }) => optionWords(tuned) || "–"],
    ["best P@1", plain("bestPrecision")],
    ...(goal === null
      ? []
      : [[`time to ${goalWords(goal)}${simulated}`, timeToGoalWords] satisfies Column]),
    ...(bestOf === null ? [] : [[`speed-up over ${bestOf}`, speedupWords] satisfies Column]),
    [`time of the run${simulated}`, plain("seconds")],
    ["waiting", plain("waiting")],
    ["updates by device", updatesWords],
  ]);
}

/** @param shares - of the time of the reference's run, as the cells' `losses` are in. */
export function lossTable(
  cells: readonly CellResult[],
  reference: string,
  shares: readonly number[],
): Cells {
  return tableOf(cells, [
    ["algorithm", ({ algorithm }) => algorithm],
    ...shares.map((share, i): Column => {
      const head = `loss at ${Number((100 * share).toPrecision(4))} %`;
      return [
        i === 0 ? `${head} of the time of ${reference}` : head,
        ({ losses }) => factorWords(rangeOf(losses[i]!, { better: "lower" })),
      ];
    }),
    ["updates by device", updatesWords],
    ["utilisation by device", ({ devices }) => partsWords(devices, "busy")],
  ]);
}

function tableOf(cells: readonly CellResult[], columns: readonly Column[]): Cells {
  return {
    head: columns.map(([head]) => head),
    rows: cells.map((cell) => columns.map(([, words]) => words(cell))),
  };
}

function measureOf(name: MeasureName) {
  return measures.find((it) => it.name === name)!;
}

function measured(cell: CellResult, name: MeasureName): Range | null {
  return rangeOf(cell.values[name], measureOf(name));
}

function goalWords(goal: NonNullable<Goal>): string {
  if ("precision" in goal) return `P@1 ${goal.precision}`;
  return bestWords(goal)!;
}

function timeToGoalWords(cell: CellResult): string {
  const range = measured(cell, "secondsToGoal");
  const words = rangeWords(range, measureOf("secondsToGoal"));
  if (range === null || range.missing === 0) return words;
  return `${words}, ${range.count - range.missing} of ${range.count} reach it`;
}

function speedupWords({ speedups }: CellResult): string {
  return factorWords(rangeOf(speedups, { better: "higher" }));
}

function factorWords(range: Range | null): string {
  return rangeWords(range, { unit: "factor" });
}

function updatesWords({ devices }: CellResult): string {
  return partsWords(devices, "updates");
}

/** `26 % 25 % 25 % 24 %`: medians over the seeds. */
function partsWords(devices: readonly DeviceParts[], part: "updates" | "busy"): string {
  return (
    devices
      .flatMap((device) => (device[part].length === 0 ? [] : median(device[part])))
      .map((share) => `${(100 * share).toFixed(share > 0 && share < 0.0095 ? 1 : 0)} %`)
      .join(" ") || "–"
  );
}
