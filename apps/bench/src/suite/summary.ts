/** What a folder of results says: one table for each data set and platform. */
import { groupsOf } from "./groups.js";
import { bestWords, measureCells, measures, type CellResult } from "./measures.js";
import { cellsOf } from "./plan.js";
import { placesOf, placeWords, type Place } from "./places.js";
import { rangeOf, type Range } from "./ranges.js";
import type { Results } from "./results-folder.js";
import type { Goal } from "./suite-schema.js";
import { shippedSuites, type Suite } from "./suite-file.js";
import { lossTable, resultTable } from "./summary-tables.js";
import { markdownTable, terminalTable, type Cells } from "./tables.js";

export interface Summary {
  readonly suite: string;
  readonly description: string;
  readonly goal: NonNullable<Goal> | null;
  readonly cells: readonly (CellResult & {
    readonly ranges: Readonly<Record<string, Range | null>>;
  })[];
  readonly losses: readonly number[];
  /** Of the runs on test rows: more than one where they were not all run on the same code. */
  readonly places: readonly Place[];
  /** What the runs of a data set and platform are made again with. */
  readonly commands: readonly TableCommand[];
}

interface TableCommand {
  readonly set: string;
  readonly platform: string;
  readonly command: string;
}

export function summarize(results: Results): Summary {
  const { suite, records } = results;
  const cells = measureCells(results).map((cell) => ({
    ...cell,
    ranges: Object.fromEntries(
      measures.map((measure) => [measure.name, rangeOf(cell.values[measure.name], measure)]),
    ),
  }));
  const tests = records.filter(({ stage }) => stage === "test");
  return {
    suite: suite.name,
    description: suite.description,
    goal: suite.goal ?? null,
    losses: suite.losses ?? [],
    cells,
    places: placesOf(tests),
    commands: groupsOf(cells).map((group) => ({
      set: group[0]!.set,
      platform: group[0]!.platform,
      command: commandOf(group, suite),
    })),
  };
}

export function summaryText(summary: Summary): string {
  const parts = groupsOf(summary.cells).flatMap((cells) => [
    titleOf(cells),
    ...tablesOf(cells, summary).map(terminalTable),
  ]);
  return [...parts, ...notesOf(summary)].join("\n");
}

/** To stand in a README as it is: every table with the command that makes it again. */
export function summaryMarkdown(summary: Summary): string {
  const parts = groupsOf(summary.cells).flatMap((cells) => [
    `#### ${titleOf(cells)}`,
    ...tablesOf(cells, summary).map(markdownTable),
    `\`${summary.commands.find((it) => sameTable(it, cells[0]!))!.command}\``,
  ]);
  const notes = notesOf(summary).map((note) => `- ${note}`);
  return `${[`### ${summary.suite}`, summary.description, ...parts, notes.join("\n")].join("\n\n")}\n`;
}

function tablesOf(cells: readonly CellResult[], { goal, losses }: Summary): readonly Cells[] {
  return [
    resultTable(cells, goal),
    ...(goal !== null && "bestOf" in goal && losses.length > 0
      ? [lossTable(cells, goal.bestOf, losses)]
      : []),
  ];
}

function sameTable(a: TableCommand, b: CellResult): boolean {
  return a.set === b.set && a.platform === b.platform;
}

function titleOf([first]: readonly CellResult[]): string {
  return `${first!.set}, ${first!.platform}`;
}

function commandOf(cells: readonly CellResult[], suite: Suite): string {
  const { set, platform } = cells[0]!;
  const whole = cellsOf(suite).filter((it) => it.set.name === set && it.platform.name === platform);
  const seeds = seedsOf(cells);
  return [
    "npm run bench -- run",
    shippedSuites().includes(suite.name) ? suite.name : `${suite.name}.json`,
    "--only",
    [set, platform, ...(cells.length < whole.length ? cells.map((it) => it.algorithm) : [])].join(),
    ...(seeds.join() === suite.seeds.join() ? [] : ["--seeds", seeds.join()]),
  ].join(" ");
}

function seedsOf(cells: readonly CellResult[]): readonly number[] {
  return [...new Set(cells.flatMap((cell) => cell.seeds))].toSorted((a, b) => a - b);
}

function notesOf({ cells, places, goal, losses }: Summary): readonly string[] {
  const bestOf = goal !== null && "bestOf" in goal ? goal.bestOf : null;
  return [
    `Median over seeds ${seedsOf(cells).join(", ")}, and in brackets the lowest and the highest.`,
    ...(cells.some(({ simulated }) => simulated)
      ? ["Simulated times are those of a profile of devices, not of this machine."]
      : []),
    ...(bestOf === null
      ? []
      : [
          `The goal is ${bestWords(goal)} with the same seed; the speed-up is how many times as fast as ${bestOf} it is reached, 0 if never.`,
        ]),
    ...(bestOf === null || losses.length === 0
      ? []
      : [
          `Loss: the training loss since the evaluation before, divided by the lowest that any algorithm reaches with the same seed, at shares of the time of the run of ${bestOf}; none before the first evaluation. Utilisation is the part of a device's time that it trains.`,
        ]),
    ...(places.length > 1 ? ["The runs are not all of the same code and machine:"] : []),
    ...places.map(placeWords),
  ];
}
