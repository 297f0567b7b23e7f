import {
  bestOf,
  medianOf,
  secondsTo,
  type Contestant,
  type ContestantRun,
} from "../series/contestants.js";
import { secondsWords } from "../words.js";
import type { Figure, Table } from "./figure.js";
import { simulatedWords } from "./time-axis.js";

/** A P@1 whose time is told. */
export interface Target {
  /** What it is, such as "the best P@1 of sync". */
  readonly label: string;
  /** The P@1 to reach, for runs with a seed; null where there is none to reach. */
  readonly of: (seed: number | null) => number | null;
}

/** Shares of the lowest best P@1, which all contestants reach, where no target is told. */
const SHARES = [0.9, 1];
/** Of a single contestant, whose way there is shown. */
const SHARES_ALONE = [0.5, 0.8, 0.9, 0.95, 1];

/**
 * A table of the time to each target, with the ratio of each contestant's time to one's own as speed-up.
 *
 * @param targets - none: shares of what all contestants reach.
 */
export function targetsTable(
  contestants: readonly Contestant[],
  targets: readonly Target[],
): readonly Figure[] {
  const known = contestants.filter(({ runs }) => runs.some((run) => run.curve.length > 0));
  if (known.length === 0) return [];
  const told = targets.length > 0 ? targets : commonTargets(known);
  const baselines = known.length > 1 ? known : [];
  const isSimulated = known.some((it) => it.isSimulated);
  const table: Table = {
    columns: [
      { label: "target", numeric: false },
      ...(known.length > 1 ? [{ label: "run", numeric: false }] : []),
      { label: "best P@1", numeric: true },
      { label: `${isSimulated ? "simulated " : ""}time to the target`, numeric: true },
      ...baselines.map(({ name }) => ({ label: `speed-up over ${name}`, numeric: true })),
    ],
    rows: told.flatMap((target) =>
      known.map((contestant) => [
        target.label,
        ...(known.length > 1 ? [contestant.name] : []),
        bestWords(contestant),
        timeWords(contestant, target),
        ...baselines.map((baseline) => ratioWords(contestant, baseline, target)),
      ]),
    ),
    note: null,
  };
  const seeds = Math.max(...known.map(({ runs }) => runs.length));
  const spread =
    seeds > 1 ? " Medians over the seeds, and in brackets the lowest and the highest." : "";
  const ratios =
    baselines.length > 0
      ? " A speed-up is another’s time over one’s own; 0 is for who never gets there."
      : "";
  return [
    {
      id: "time-to-target",
      title: "Time to target",
      caption: `The time of the first evaluation at which a run has reached a P@1.${ratios}${spread}${simulatedWords(isSimulated)}`,
      description: "",
      chart: null,
      table,
    },
  ];
}

function commonTargets(contestants: readonly Contestant[]): readonly Target[] {
  const bests = contestants.map(({ runs }) =>
    Math.min(...runs.map((run) => bestOf(run) ?? Infinity)),
  );
  const lowest = Math.min(...bests);
  if (!Number.isFinite(lowest)) return [];
  const isAlone = contestants.length === 1 && contestants[0]!.runs.length === 1;
  return (isAlone ? SHARES_ALONE : SHARES).map((share) => {
    const precision = share * lowest;
    const part = share === 1 ? "" : `${Math.round(100 * share)} % of `;
    const what = isAlone ? "the best" : "the lowest best";
    return { label: `P@1 ${precision.toFixed(4)}, ${part}${what}`, of: () => precision };
  });
}

function bestWords({ runs }: Contestant): string {
  const bests = runs.flatMap((run) => bestOf(run) ?? []);
  return rangeWords(bests, (value) => value.toFixed(4));
}

/** Infinite where a run never gets there; undefined where it has nothing to reach. */
function timeOf(run: ContestantRun, { of }: Target): number | undefined {
  const precision = of(run.seed);
  return precision === null ? undefined : secondsTo(precision, run);
}

function timeWords({ runs }: Contestant, target: Target): string {
  return rangeWords(
    runs.flatMap((run) => timeOf(run, target) ?? []),
    secondsWords,
  );
}

/** Seed by seed where both have the same seeds, else of the medians. */
export function ratiosOf(
  contestant: Contestant,
  baseline: Contestant,
  target: Target,
): readonly number[] {
  const ratio = (own: number | undefined, other: number | undefined) => {
    if (own === undefined || other === undefined || other === Infinity) return [];
    if (own === Infinity) return [0];
    return own > 0 ? [other / own] : [];
  };
  const bySeed = contestant.runs.map((run) => ({
    run,
    other: baseline.runs.find(({ seed }) => seed !== null && seed === run.seed),
  }));
  if (bySeed.every(({ other }) => other !== undefined)) {
    return bySeed.flatMap(({ run, other }) => ratio(timeOf(run, target), timeOf(other!, target)));
  }
  const middle = ({ runs }: Contestant) =>
    medianOf(runs.flatMap((run) => timeOf(run, target) ?? []));
  return ratio(middle(contestant), middle(baseline));
}

function ratioWords(contestant: Contestant, baseline: Contestant, target: Target): string {
  if (contestant === baseline) return "1";
  return rangeWords(ratiosOf(contestant, baseline, target), (value) => value.toFixed(2));
}

/** `0.651 (0.649–0.653)` */
function rangeWords(values: readonly number[], words: (value: number) => string): string {
  if (values.length === 0) return "–";
  const [low, high] = [Math.min(...values), Math.max(...values)].map(words);
  const middle = words(medianOf(values));
  return low === high ? middle : `${middle} (${low}–${high})`;
}
