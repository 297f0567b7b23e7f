import {
  allocateShared,
  selectRows,
  splitRows,
  type Dataset,
  type ReadResult,
  type TextFormat,
  type TextOptions,
} from "@heterosgd/sparse";
import { readDatasetFile, readNames } from "@heterosgd/sparse/node";
import { collectGarbage } from "@heterosgd/trainer";
import type { DecidedConfig } from "./config/complete.js";
import { CliError } from "./errors.js";
import { counted, formatCount } from "./output/format.js";
import { sampleFiles } from "./sample.js";

export type SharedDataset = Dataset<SharedArrayBuffer>;

/** What reading a file of rows gave. */
export type ReadFile = ReadResult<SharedArrayBuffer>;

export interface TrainingData {
  readonly train: SharedDataset;
  readonly evaluation: SharedDataset | null;
  /** What `evaluation` is. */
  readonly evaluatedOn: "test" | "validation" | null;
  /** Where the evaluation rows come from, for the command that evaluates again. */
  readonly testFile: string | null;
  /** Number of labels: those of the data, or more if more are named. */
  readonly labels: number;
  readonly labelNames: readonly string[] | null;
  readonly format: TextFormat;
  /** How labels of LIBSVM text are to be understood by whoever reads more data for the model. */
  readonly labelValues: "names" | "ids";
  readonly notices: readonly string[];
}

/** What the options of every verb say about reading. */
export type ReadingOptions = Pick<DecidedConfig, "format" | "duplicates"> & {
  readonly indexBase: 0 | 1 | null;
  readonly labelValues: "names" | "ids" | null;
};

/** What a model demands of more data. */
export interface Bounds {
  readonly features: number;
  readonly labels: number;
  readonly labelNames: readonly string[] | null;
  readonly onWider: "error" | "drop";
}

/** The options of reading as `sparse` takes them. */
export function textOptions(
  { format, duplicates, indexBase, labelValues }: ReadingOptions,
  bounds?: Bounds,
): TextOptions {
  const values = labelValues ?? "names";
  return {
    format: format === "xc-rows" ? "xc" : format,
    header: format !== "xc-rows",
    duplicates,
    indexBase: indexBase ?? 1,
    labelValues: values,
    ...(bounds === undefined
      ? {}
      : {
          features: bounds.features,
          labels: bounds.labels,
          onWider: bounds.onWider,
          ...(values === "names" && bounds.labelNames ? { labelNames: bounds.labelNames } : {}),
        }),
  };
}

/** Reads a data file into shared memory. @throws SparseError */
export async function readData(
  path: string,
  options: ReadingOptions,
  bounds?: Bounds,
): Promise<ReadFile> {
  return readDatasetFile(path, { ...textOptions(options, bounds), shared: true });
}

/** Reads rows that a model is to be evaluated on. @throws SparseError; CliError EMPTY_DATA */
export async function readEvaluationData(
  path: string,
  options: ReadingOptions,
  bounds: Bounds,
): Promise<ReadFile> {
  const read = await readData(path, options, bounds);
  checkContent(path, read.dataset, ["rows"]);
  return read;
}

/**
 * Reads all that a training run needs.
 *
 * @throws SparseError; CliError EMPTY_DATA, LABEL_NAMES, CONFLICT, SAMPLE_MISSING
 */
export async function readTrainingData(config: DecidedConfig): Promise<TrainingData> {
  const files = config.sample ? sampleFiles() : { ...config, train: config.train ?? "" };
  const { validation, seed } = config;
  for (const file of [files.train, files.test, files.labelNames]) refuseStandardInput(file ?? "");
  const fileNames = files.labelNames === null ? null : await readNames(files.labelNames);
  const read = await readData(files.train, config);
  // What the rows have outgrown is not to lie beside copies of them.
  await collectGarbage();
  if (fileNames !== null) checkNames(files.labelNames ?? "", fileNames, read);
  checkContent(files.train, read.dataset, ["rows", "features", "labels"]);
  const labelNames = fileNames ?? read.labelNames;
  const labelValues = read.labelNames === null ? "ids" : "names";
  const labels = labelNames?.length ?? read.dataset.labels.columns;
  const common = { format: read.format, labels, labelNames, labelValues } as const;
  const notices = [
    ...noticesOf(files.train, read),
    ...cutoffNotices(config.cutoffs, labels),
    ...warmupNotices(config),
  ];

  if (validation !== null) {
    const { rows } = read.dataset;
    const split = splitRows(rows, { testFraction: validation, seed });
    if (split.train.length === 0 || split.test.length === 0) {
      throw new CliError(
        "CONFLICT",
        `--validation ${validation} of ${counted(rows, "row")} leaves ${formatCount(split.train.length)} to train on and ${formatCount(split.test.length)} to evaluate`,
      );
    }
    return {
      ...common,
      train: selectRows(read.dataset, split.train, allocateShared),
      evaluation: selectRows(read.dataset, split.test, allocateShared),
      evaluatedOn: "validation",
      testFile: null,
      notices,
    };
  }
  if (files.test === null) {
    const rest = { evaluation: null, evaluatedOn: null, testFile: null };
    return { ...common, train: read.dataset, ...rest, notices };
  }
  const test = await readEvaluationData(
    files.test,
    { ...config, labelValues },
    { features: read.dataset.features.columns, labels, labelNames, onWider: config.wider },
  );
  return {
    ...common,
    train: read.dataset,
    evaluation: test.dataset,
    evaluatedOn: "test",
    testFile: files.test,
    notices: [...notices, ...noticesOf(files.test, test)],
  };
}

function warmupNotices({ warmupEpochs, epochs }: DecidedConfig): readonly string[] {
  if (warmupEpochs < epochs) return [];
  return [
    `--warmup-epochs is ${warmupEpochs}, but --epochs is ${epochs}: the run ends before its warm-up does.`,
  ];
}

/** @throws CliError EMPTY_DATA if a file has none of what is needed of it. */
function checkContent(
  file: string,
  { rows, features, labels }: SharedDataset,
  needed: readonly ("rows" | "features" | "labels")[],
): void {
  const counts = { rows, features: features.columns, labels: labels.columns };
  const missing = needed.find((what) => counts[what] === 0);
  if (missing === undefined) return;
  throw new CliError("EMPTY_DATA", `${file} has no ${missing}`, {
    hint: `it must have ${needed.join(", ").replace(/, (\w+)$/, " and $1")}`,
  });
}

function checkNames(file: string, names: readonly string[], { dataset, ...read }: ReadFile): void {
  const labels = dataset.labels.columns;
  if (read.labelNames !== null) {
    throw new CliError(
      "LABEL_NAMES",
      `${file} names labels by number, but the data names its own`,
      {
        hint: "leave out --label-names, or add --label-values ids",
      },
    );
  }
  if (names.length === labels || (names.length > labels && read.format === "libsvm")) return;
  throw new CliError(
    "LABEL_NAMES",
    `${file} names ${counted(names.length, "label")}, but the data has ${formatCount(labels)}`,
    {
      hint: "there must be one name a line for each label",
    },
  );
}

/** What dropping did to features. */
export function droppedWords(count: number): string {
  return `${counted(count, "value")} of features that the model does not have ${count === 1 ? "was" : "were"} left out.`;
}

/** What to tell the user about cut-offs that there are too few labels for. */
export function cutoffNotices(cutoffs: readonly number[], labels: number): readonly string[] {
  const out = cutoffs.filter((k) => k > labels);
  if (out.length === 0) return [];
  return [
    `--cutoffs: ${out.map(formatCount).join(", ")} left out, since the network has only ${counted(labels, "label")}.`,
  ];
}

/** What to tell the user about a file that was read. */
export function noticesOf(file: string, { stats, notices }: ReadResult): readonly string[] {
  const words = [
    [stats.rowsWithoutLabels, (n: number) => `${counted(n, "row has", "rows have")} no labels.`],
    [
      stats.rowsWithoutFeatures,
      (n: number) => `${counted(n, "row has", "rows have")} no features.`,
    ],
    [stats.droppedFeatures, droppedWords],
    [
      stats.droppedLabels,
      (n: number) =>
        `${counted(n, "label")} that the model does not have ${n === 1 ? "was" : "were"} left out.`,
    ],
  ] as const;
  const counts = words.filter(([count]) => count > 0).map(([count, text]) => text(count));
  return [...notices, ...counts].map((notice) => `${file}: ${notice}`);
}

/** @throws CliError USAGE for `-`, which is standard input for `predict` alone. */
function refuseStandardInput(file: string): string {
  if (file !== "-") return file;
  throw new CliError("USAGE", "only predict reads standard input (-)", { hint: "name a file" });
}

/** The file of rows that a verb is to read. @throws CliError USAGE, CONFLICT, SAMPLE_MISSING */
export function rowsFile(file: string | undefined, sample: boolean): string {
  if (file !== undefined && sample) {
    throw new CliError("CONFLICT", `--sample brings its own rows, but ${file} is named too`);
  }
  if (sample) return sampleFiles().test;
  if (file !== undefined) return refuseStandardInput(file);
  throw new CliError("USAGE", "no file of rows is named", {
    hint: "name one, or use --sample for the bundled test rows",
  });
}
