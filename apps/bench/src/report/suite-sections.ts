/** What the page of a suite's results shows: a part for each data set and platform. */
import {
  comparisonFigures,
  type Contestant,
  type ContestantRun,
  type ReportSection,
  type Target,
} from "@heterosgd/report";
import { groupsOf } from "../suite/groups.js";
import { bestWords, targetOf, type CellResult } from "../suite/measures.js";
import type { CellName } from "../suite/plan.js";
import { optionWords } from "../suite/plan.js";
import { placesOf, placeWords } from "../suite/places.js";
import type { Results } from "../suite/results-folder.js";
import type { RunRecord } from "../suite/run-record.js";
import { summarize } from "../suite/summary.js";
import { sameCell } from "../suite/time-left.js";

export interface SuiteSection extends ReportSection, Pick<CellName, "set" | "platform"> {}

/** In the suite's order; of what has results. */
export function suiteSections(results: Results): readonly SuiteSection[] {
  const { cells, commands } = summarize(results);
  const tests = results.records.filter(({ stage }) => stage === "test");
  return groupsOf(cells).map((group) => {
    const { set, platform } = group[0]!;
    const own = tests.filter((record) => record.set === set && record.platform === platform);
    const command = commands.find((it) => it.set === set && it.platform === platform)?.command;
    const contestants = group.map((cell) => contestantOf(cell, own));
    return {
      set,
      platform,
      title: `${set}, ${platform}`,
      facts: [
        [
          "Seeds",
          [...new Set(group.flatMap(({ seeds }) => seeds))].toSorted((a, b) => a - b).join(", "),
        ],
        ...group.flatMap(tunedFact),
        ...divergedFacts(group, own),
        ...placesOf(own).map((place) => ["Runs", placeWords(place)] as const),
        ["Command", command ?? ""],
      ],
      figures: comparisonFigures(contestants, { targets: targetsOf(results, own) }),
    };
  });
}

function contestantOf(cell: CellResult, records: readonly RunRecord[]): Contestant {
  const own = records.filter((record) => sameCell(record, cell));
  return {
    name: cell.algorithm,
    isSimulated: cell.simulated,
    runs: own.flatMap(({ seed, result }): readonly ContestantRun[] =>
      result === null
        ? []
        : [
            {
              seed,
              seconds: result.seconds,
              curve: result.curve.map(({ at, rows, precision, loss }) => ({
                at,
                rows,
                precision: precision[0]!,
                loss,
              })),
              devices: result.devices.map(({ name, rows, updates, usage, staleness }) => ({
                name,
                rows,
                updates,
                usage,
                staleness,
              })),
            },
          ],
    ),
  };
}

function tunedFact({ algorithm, tuned }: CellResult): readonly (readonly [string, string])[] {
  const words = optionWords(tuned);
  return words === "" ? [] : [[algorithm, words]];
}

function divergedFacts(
  group: readonly CellResult[],
  records: readonly RunRecord[],
): readonly (readonly [string, string])[] {
  return group.flatMap((cell) => {
    const seeds = records.filter((it) => sameCell(it, cell) && it.result === null);
    if (seeds.length === 0) return [];
    return [[`${cell.algorithm} diverged`, `seeds ${seeds.map(({ seed }) => seed).join(", ")}`]];
  });
}

/** The suite's goal; none where it has no goal, and shares of what all reach are told then. */
function targetsOf({ suite }: Results, records: readonly RunRecord[]): readonly Target[] {
  const { goal } = suite;
  if (goal === undefined) return [];
  const label = bestWords(goal) ?? ("precision" in goal ? `P@1 ${goal.precision}` : "");
  return [
    {
      label,
      of(seed) {
        const record = records.find((it) => it.seed === seed);
        return (record && targetOf(goal, record, records)) ?? null;
      },
    },
  ];
}
