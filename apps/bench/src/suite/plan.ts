/** From a suite to the runs that it takes: which there are, and with what arguments. */
import { filesOf } from "../named-sets.js";
import type { Contestant, Suite, SuiteSet } from "./suite-file.js";
import type { Grid, Options, OptionValue, Platform } from "./suite-schema.js";
import { SuiteError } from "./suite-error.js";

/** What is tuned together, and told together over its seeds. */
export interface Cell {
  readonly set: SuiteSet;
  readonly platform: Platform;
  readonly contestant: Contestant;
}

/** What names a cell in results. */
export interface CellName {
  readonly set: string;
  readonly platform: string;
  readonly algorithm: string;
}

export interface PlannedRun extends CellName {
  /** Tuning runs never see the test rows. */
  readonly stage: "tuning" | "test";
  readonly seed: number;
  /** The combination of the grid. */
  readonly tuned: Options;
  readonly verb: "train" | "simulate";
  readonly args: readonly string[];
  /** Of its file of results, which is the same when the suite is run again. */
  readonly file: string;
}

export function cellsOf({ sets, platforms, algorithms }: Suite): readonly Cell[] {
  return sets.flatMap((set) =>
    platforms
      .filter(({ name }) => set.platforms?.includes(name) ?? true)
      .flatMap((platform) =>
        algorithms
          .filter(({ name }) => ownOf(set, name)?.run ?? true)
          .map((contestant) => ({ set, platform, contestant })),
      ),
  );
}

export function nameOf({ set, platform, contestant }: Cell): CellName {
  return { set: set.name, platform: platform.name, algorithm: contestant.name };
}

/** Every combination of a grid, the last option changing fastest; one without options for none. */
export function combinationsOf(grid: Grid): readonly Options[] {
  return Object.entries(grid).reduce<Options[]>(
    (sofar, [name, values]) =>
      sofar.flatMap((head) => values.map((value) => ({ ...head, [name]: value }))),
    [{}],
  );
}

/** A cell's combinations of options to choose from: of the most special grid there is. */
export function choicesOf(suite: Suite, { set, contestant }: Cell): readonly Options[] {
  const own = ownOf(set, contestant.name);
  return combinationsOf(own?.grid ?? contestant.grid ?? set.grid ?? suite.grid);
}

/**
 * The runs that decide a cell's tuned options: none where there is nothing to choose.
 *
 * @param data - the data folder; null where no set of the suite is in it.
 */
export function tuningRuns(suite: Suite, cell: Cell, data: string | null): readonly PlannedRun[] {
  const combinations = choicesOf(suite, cell);
  if (combinations.length < 2) return [];
  return combinations.flatMap((tuned) =>
    suite.tuning.seeds.map((seed) => plan(suite, cell, data, "tuning", tuned, seed)),
  );
}

/** A cell's runs on the test rows. */
export function testRuns(
  suite: Suite,
  cell: Cell,
  data: string | null,
  tuned: Options,
): readonly PlannedRun[] {
  return suite.seeds.map((seed) => plan(suite, cell, data, "test", tuned, seed));
}

type Own = SuiteSet["algorithms"][string];

/** What a set has for an algorithm, whose name may be that of a member of every object. */
function ownOf({ algorithms }: SuiteSet, name: string): Own | undefined {
  return Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;
}

function plan(
  suite: Suite,
  cell: Cell,
  data: string | null,
  stage: PlannedRun["stage"],
  tuned: Options,
  seed: number,
): PlannedRun {
  const { set, platform, contestant } = cell;
  const [train, ...test] =
    set.files === null ? filesOf(set.name, data!) : [set.files.train, "--test", set.files.test];
  const evaluated = stage === "test" ? test : ["--validation", String(suite.tuning.validation)];
  const { maxTime, target } = { ...suite.stop, ...set.stop };
  const stops: Options = {
    epochs: set.stop?.epochs ?? suite.stop.epochs,
    ...(maxTime === undefined ? {} : { maxTime }),
    // A target would end the runs that are to show what is best.
    ...(target === undefined || stage === "tuning" ? {} : { target }),
  };
  const devices = contestant.devices ?? platform.devices;
  const where: Options = {
    ...(platform.profile === undefined ? {} : { profile: platform.profile }),
    ...(devices === undefined ? {} : { devices }),
  };
  const options = {
    ...suite.options,
    ...set.options,
    ...contestant.options,
    ...ownOf(set, contestant.name)?.options,
    ...tuned,
    ...stops,
    ...where,
  };
  const name = nameOf(cell);
  return {
    ...name,
    stage,
    seed,
    tuned,
    verb: platform.profile === undefined ? "train" : "simulate",
    args: [
      train!,
      ...evaluated,
      "--algorithm",
      contestant.algorithm,
      ...Object.entries(options).flatMap(([option, value]) => flagOf(option, value)),
      "--seed",
      String(seed),
    ],
    file: fileOf(name, stage, tuned, seed),
  };
}

/** `learningRate: 0.5` as `--learning-rate 0.5`. */
export function flagOf(option: string, value: OptionValue): readonly string[] {
  const kebab = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (value === true) return [`--${kebab}`];
  if (value === false) return [`--no-${kebab}`];
  return [`--${kebab}`, value === null ? "none" : String(value)];
}

/** A combination for people: `learningRate=0.5, momentum=0`. */
export function optionWords(options: Options): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(", ");
}

function fileOf(name: CellName, stage: string, tuned: Options, seed: number): string {
  // The combination is not part of a test run's name: there is one a seed, whatever was chosen.
  const combination = Object.entries(tuned).map(([option, value]) => `${option}=${String(value)}`);
  const parts = [
    stage,
    name.set,
    name.platform,
    name.algorithm,
    ...(stage === "tuning" ? combination : []),
    `seed=${seed}`,
  ];
  return `${parts.map((part) => encodeURIComponent(part).replaceAll("%3D", "=")).join("_")}.json`;
}

/**
 * The suite with only the sets, platforms and algorithms named; of a kind of which none is named,
 * all.
 *
 * @throws SuiteError for a name that is none of them.
 */
export function onlyOf(suite: Suite, names: readonly string[]): Suite {
  const known = new Set(
    [...suite.sets, ...suite.platforms, ...suite.algorithms].map(({ name }) => name),
  );
  for (const name of names) {
    if (known.has(name)) continue;
    throw new SuiteError(
      `"${name}" is no part of the suite ${suite.name}; its parts are ${[...known].join(", ")}`,
    );
  }
  const keep = <T extends { readonly name: string }>(items: readonly T[]): T[] => {
    const kept = items.filter(({ name }) => names.includes(name));
    return kept.length === 0 ? [...items] : kept;
  };
  const part = {
    ...suite,
    sets: keep(suite.sets),
    platforms: keep(suite.platforms),
    algorithms: keep(suite.algorithms),
  };
  if (cellsOf(part).length === 0) {
    throw new SuiteError(
      `${names.join(", ")}: in the suite ${suite.name} nothing of these is run together`,
    );
  }
  return part;
}
