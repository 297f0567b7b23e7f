/** `bench compare A B` */
import { compareCells, leastSeeds, type Comparison, type Differences } from "./compare.js";
import { bestWords, measureCells } from "./measures.js";
import { optionWords } from "./plan.js";
import { placesOf, placeWords } from "./places.js";
import { valueWords, rangeWords } from "./ranges.js";
import { readResults, type Results } from "./results-folder.js";
import type { Suite } from "./suite-file.js";
import { markdownTable, terminalTable, type Cells } from "./tables.js";

export interface CompareOptions {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

export function compareFolders(
  folderA: string,
  folderB: string,
  { all = false, json = false, markdown = false }: CompareOptions,
): void {
  const [a, b] = [readResults(folderA), readResults(folderB)];
  const differences = compareCells(measureCells(a), measureCells(b));
  const notes = notesOf(a, b, differences);
  if (json) {
    console.log(JSON.stringify({ a: folderA, b: folderB, notes, ...differences }, null, 2));
    return;
  }
  const { comparisons } = differences;
  const shown = all ? comparisons : comparisons.filter(moved);
  if (shown.length > 0) {
    const table = comparisonTable(shown);
    console.log(markdown ? markdownTable(table) : terminalTable(table));
    if (markdown) console.log();
  }
  for (const note of notes) console.log(markdown ? `- ${note}` : note);
}

function moved({ verdict }: Comparison): boolean {
  return verdict === "better" || verdict === "worse";
}

export function comparisonTable(comparisons: readonly Comparison[]): Cells {
  return {
    head: ["data set", "platform", "algorithm", "measure", "A", "B", "change", "verdict"],
    rows: comparisons.map(({ set, platform, algorithm, simulated, measure, a, b, verdict }) => [
      set,
      platform,
      algorithm,
      simulated && measure.unit === "seconds" ? `${measure.words}, simulated` : measure.words,
      rangeWords(a, measure),
      rangeWords(b, measure),
      changeWords(a.median, b.median, measure),
      verdict === "noise" ? "within the noise" : verdict,
    ]),
  };
}

/** Of the medians: a factor for times, a difference for anything else. */
function changeWords(from: number, to: number, measure: Comparison["measure"]): string {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return "–";
  if (measure.unit === "seconds") return from === 0 ? "–" : `× ${(to / from).toFixed(2)}`;
  const sign = to < from ? "−" : "+";
  const difference = valueWords(Math.abs(to - from), measure);
  // Of percentages, "−3 %" might as well be a factor.
  return sign + (measure.unit === "percent" ? difference.replace("%", "points") : difference);
}

export function notesOf(a: Results, b: Results, differences: Differences): readonly string[] {
  const { comparisons, retuned, onlyA, onlyB, expectedFalseAlarms } = differences;
  const count = (...verdicts: readonly Comparison["verdict"][]) =>
    comparisons.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const missing = (side: string, names: Differences["onlyA"]) =>
    names.map((it) => `Only ${side} has ${it.set}, ${it.platform}, ${it.algorithm}.`);
  const codes = [a, b].map(({ records }) => {
    const tests = records.filter(({ stage }) => stage === "test");
    return placesOf(tests).map(placeWords).join("; ") || "no runs";
  });
  return [
    `${comparisons.length} comparisons: ${count("better")} better, ${count("worse")} worse, ` +
      `${count("noise")} within the noise, ${count("same")} the same to the last digit, ` +
      `${count("too few seeds")} with too few seeds (${leastSeeds} on each side are needed).`,
    "Better or worse: all of B's values are on one side of all of A's. By chance alone " +
      `${expectedFalseAlarms.toFixed(1)} of these comparisons would look so.`,
    ...(a.suite.name === b.suite.name
      ? []
      : [`A is of the suite ${a.suite.name}, B of ${b.suite.name}.`]),
    ...changesOf(a, b),
    ...goalNotes(a, b),
    ...retuned.map(
      (it) =>
        `${it.set}, ${it.platform}, ${it.algorithm} was tuned to ${optionWords(it.a)} in A, to ${optionWords(it.b)} in B.`,
    ),
    ...missing("A", onlyA),
    ...missing("B", onlyB),
    `A: ${codes[0]}`,
    `B: ${codes[1]}`,
  ];
}

/** Which members of the suite are not the same. */
function changesOf(a: Results, b: Results): readonly string[] {
  const members = (suite: Suite) => new Map(Object.entries(suite));
  const [left, right] = [members(a.suite), members(b.suite)];
  const changed = [...new Set([...left.keys(), ...right.keys()])].filter(
    (member) =>
      !["name", "description"].includes(member) &&
      JSON.stringify(left.get(member)) !== JSON.stringify(right.get(member)),
  );
  return changed.length === 0
    ? []
    : [`The suite has changed between A and B: its ${changed.join(", ")}.`];
}

/** A goal that moves with the results makes times to it hard to compare. */
function goalNotes(a: Results, b: Results): readonly string[] {
  const [left, right] = [a.suite.goal, b.suite.goal];
  if (left === undefined || right === undefined) return [];
  if (!("bestOf" in left) || !("bestOf" in right)) return [];
  return [
    `The goal is ${bestWords(left)} in A for A, ${bestWords(right)} in B for B: where that has moved, so has the goal.`,
  ];
}
