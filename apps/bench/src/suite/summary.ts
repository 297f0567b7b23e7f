/** What a folder of results says: one table for each data set and platform. */
import { describeEnvironment, type Environment } from "../environment.js";
import { median } from "../statistics.js";
import { groupsOf } from "./groups.js";
import { optionWords } from "./plan.js";
import { measureCells, measures, type CellResult, type MeasureName } from "./measures.js";
import { rangeOf, rangeWords, type Range } from "./ranges.js";
import type { Results } from "./results-folder.js";
import type { Goal } from "./suite-schema.js";
import { markdownTable, terminalTable, type Cells } from "./tables.js";

export interface Summary {
  readonly suite: string;
  readonly description: string;
  readonly goal: NonNullable<Goal> | null;
  readonly cells: readonly (CellResult & {
    readonly ranges: Readonly<Record<string, Range | null>>;
  })[];
  /** Of all runs: more than one where they were not run on the same code. */
  readonly environments: readonly Environment[];
  readonly commands: readonly string[];
}

export function summarize(results: Results): Summary {
  const { suite, records } = results;
  const cells = measureCells(results).map((cell) => ({
    ...cell,
    ranges: Object.fromEntries(
      measures.map((measure) => [measure.name, rangeOf(cell.values[measure.name], measure)]),
    ),
  }));
  const byCode = new Map(
    records.map(({ environment }) => [
      [environment.commit, environment.processor, environment.node].join(),
      environment,
    ]),
  );
  return {
    suite: suite.name,
    description: suite.description,
    goal: suite.goal ?? null,
    cells,
    environments: [...byCode.values()],
    commands: records
      .filter(({ stage, seed }) => stage === "test" && seed === suite.seeds[0])
      .map(({ command }) => command),
  };
}

export function summaryText(summary: Summary): string {
  const parts = groupsOf(summary.cells).flatMap((cells) => [
    titleOf(cells),
    terminalTable(tableOf(cells, summary.goal)),
  ]);
  return [...parts, ...notesOf(summary)].join("\n");
}

export function summaryMarkdown(summary: Summary): string {
  const parts = groupsOf(summary.cells).flatMap((cells) => [
    `## ${titleOf(cells)}`,
    markdownTable(tableOf(cells, summary.goal)),
  ]);
  const notes = notesOf(summary).map((note) => `- ${note}`);
  const commands = ["```sh", ...summary.commands, "```"];
  return `${[
    `# ${summary.suite}`,
    summary.description,
    ...parts,
    notes.join("\n"),
    `Commands, of the first seed:`,
    commands.join("\n"),
  ].join("\n\n")}\n`;
}

function titleOf([first]: readonly CellResult[]): string {
  return `${first!.set}, ${first!.platform}`;
}

export function tableOf(cells: readonly CellResult[], goal: NonNullable<Goal> | null): Cells {
  const simulated = cells.some((cell) => cell.simulated) ? ", simulated" : "";
  const measure = (name: MeasureName) => measures.find((it) => it.name === name)!;
  const shown: readonly (readonly [MeasureName, string])[] = [
    ["bestPrecision", "best P@1"],
    ...(goal === null
      ? []
      : ([["secondsToGoal", `time to ${goalWords(goal)}${simulated}`]] as const)),
    ["seconds", `time of the run${simulated}`],
    ["waiting", "waiting"],
  ];
  return {
    head: ["algorithm", "tuned", ...shown.map(([, head]) => head), "updates by device"],
    rows: cells.map((cell) => [
      cell.algorithm,
      optionWords(cell.tuned) || "–",
      ...shown.map(([name]) => {
        const range = rangeOf(cell.values[name], measure(name));
        const words = rangeWords(range, measure(name));
        const reached = range === null ? 0 : range.count - range.missing;
        const partly = name === "secondsToGoal" && range !== null && range.missing > 0;
        return partly ? `${words}, ${reached} of ${range.count} reach it` : words;
      }),
      updatesWords(cell),
    ]),
  };
}

function goalWords(goal: NonNullable<Goal>): string {
  return "bestOf" in goal ? `${goal.bestOf}'s best P@1` : `P@1 ${goal.precision}`;
}

/** `26 % 25 % 25 % 24 %`: medians over the seeds. */
function updatesWords({ devices }: CellResult): string {
  return (
    devices
      .flatMap(({ updates }) => (updates.length === 0 ? [] : median(updates)))
      .map((share) => `${Math.round(100 * share)} %`)
      .join(" ") || "–"
  );
}

function notesOf({ cells, environments, goal }: Summary): readonly string[] {
  const seeds = [...new Set(cells.flatMap((cell) => cell.seeds))].toSorted((a, b) => a - b);
  return [
    `Median over seeds ${seeds.join(", ")}, and in brackets the lowest and the highest.`,
    ...(cells.some(({ simulated }) => simulated)
      ? ["Simulated times are those of a profile of devices, not of this machine."]
      : []),
    ...(goal !== null && "bestOf" in goal
      ? [`The goal is the best P@1 of ${goal.bestOf} with the same seed.`]
      : []),
    ...(environments.length > 1 ? ["The runs are not all of the same code and machine:"] : []),
    ...environments.map(describeEnvironment),
  ];
}
