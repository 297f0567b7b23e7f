import { resolve } from "node:path";
import { CliError } from "../errors.js";
import { optimizers } from "../optimizers.js";
import { lookOf, optionsOf } from "./option-text.js";
import { trainSchema, type TrainConfig } from "./schema.js";

/** Options that are decided automatically where nothing is set. */
type Automatic =
  | "labelValues"
  | "indexBase"
  | "learningRate"
  | "scaleLearningRate"
  | "scheduleEpochs"
  | "batchMin"
  | "batchReference"
  | "beta"
  | "warmupBatch";

/**
 * A configuration with every automatic value decided, but for the mega-batch's, which needs the
 * data.
 */
export type DecidedConfig = TrainConfig & {
  readonly [K in Automatic]: NonNullable<TrainConfig[K]>;
};

/** A configuration in which nothing is left open. */
export type CompleteConfig = DecidedConfig & { readonly megaBatch: number };

/**
 * Decides what was left to be decided automatically.
 *
 * @throws CliError CONFLICT if options contradict each other.
 */
export function decide(config: TrainConfig): DecidedConfig {
  const optimizer = optimizers[config.optimizer];
  const batchMin = config.batchMin ?? Math.max(1, Math.round(config.batch / 8));
  const decided: DecidedConfig = {
    ...config,
    cutoffs: [...new Set(config.cutoffs)].toSorted((a, b) => a - b),
    indexBase: config.indexBase ?? 1,
    labelValues: config.labelValues ?? (config.labelNames === null ? "names" : "ids"),
    learningRate: config.learningRate ?? optimizer.learningRate,
    scaleLearningRate: config.scaleLearningRate ?? optimizer.scaleLearningRate,
    scheduleEpochs: config.scheduleEpochs ?? (config.schedule === "step" ? 1 : config.epochs),
    batchMin,
    batchReference: config.batchReference ?? config.batch,
    beta: config.beta ?? (config.batchScaling === "proportional" ? batchMin / 2 : 32),
    warmupBatch: config.warmupBatch ?? batchMin,
  };
  checkTogether(decided);
  return decided;
}

/** @param rows - training rows of an epoch. */
export function complete(config: DecidedConfig, rows: number): CompleteConfig {
  const megaBatch = config.megaBatch ?? Math.min(100 * config.batch, Math.ceil(rows / 4));
  return { ...config, megaBatch };
}

function checkTogether(config: DecidedConfig): void {
  const { batch, batchMin, warmupBatch, train, sample, test, validation, target } = config;
  const conflict = (message: string, hint: string) => {
    throw new CliError("CONFLICT", message, { hint });
  };
  if (sample && (train !== null || test !== null || config.labelNames !== null)) {
    conflict(
      "--sample brings its own data, but data files are named too",
      "leave out one or the other",
    );
  }
  if (!sample && train === null) {
    conflict("there is no training data", "name a file, or use --sample for the bundled data");
  }
  if (validation !== null && test !== null) {
    conflict(
      "--validation and --test exclude each other: what is tuned on held-out rows must not see the test set",
      "leave one out (--test none)",
    );
  }
  if (batchMin > batch) {
    conflict(
      `--batch-min is ${batchMin}, but --batch is ${batch}`,
      "the smallest batch cannot be above the largest",
    );
  }
  if (warmupBatch > batch) {
    conflict(
      `--warmup-batch is ${warmupBatch}, but --batch is ${batch}`,
      "a device has room for --batch rows",
    );
  }
  if (config.schedule === "cosine" && config.scheduleFinal > config.learningRate) {
    conflict(
      `--schedule-final is ${config.scheduleFinal}, but the learning rate is ${config.learningRate}`,
      "a cosine falls",
    );
  }
  if (target !== null && !sample && test === null && validation === null) {
    conflict("--target needs something to evaluate", "add --test or --validation");
  }
  if (target !== null && config.evaluateEvery === "never") {
    conflict("--target is never looked at with --evaluate-every never", "leave one of the two out");
  }
  if (config.merge === "uniform" && (config.perturbation > 0 || config.momentum > 0)) {
    conflict(
      "--merge uniform has neither perturbation nor momentum",
      "set both to 0, or use --merge normalized",
    );
  }
  if (config.labelNames !== null && config.labelValues === "names" && config.format === "libsvm") {
    conflict(
      "--label-names names label ids, but --label-values says that the data has names",
      "leave out one or the other",
    );
  }
}

/**
 * The configuration as it goes into the run folder: with it, `train --config` repeats the run in a
 * new folder.
 */
export function storedConfig(config: CompleteConfig): TrainConfig {
  const stored: Record<string, unknown> = { ...config, out: null, force: false };
  for (const [key, type] of optionsOf(trainSchema)) {
    const value = stored[key];
    if (lookOf(type).path && typeof value === "string") stored[key] = resolve(value);
  }
  return stored as TrainConfig;
}
