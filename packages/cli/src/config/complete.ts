import { resolve } from "node:path";
import { CliError } from "../errors.js";
import { algorithms, type OptionValue } from "@heterosgd/scheduler";
import { presets } from "../algorithms.js";
import { optimizers, type Optimizer } from "../optimizers.js";
import { isPath, optionsOf } from "./option-text.js";
import { ownOptions, ownValues } from "./own-options.js";
import { trainSchema, type TrainConfig } from "./schema.js";

/** Options that are decided automatically where nothing is set. */
type Automatic = "labelValues" | "indexBase" | "optimizer" | "learningRate" | "scheduleEpochs";

/** A configuration in which nothing is left open but what the algorithm works out from the data. */
export type DecidedConfig = TrainConfig & {
  readonly [K in Automatic]: NonNullable<TrainConfig[K]>;
};

/** Options of algorithms whose default is no plain value. */
const automaticOwn: Readonly<Record<string, (optimizer: Optimizer) => OptionValue>> = {
  scaleLearningRate: ({ scaleLearningRate }) => scaleLearningRate,
};

/**
 * Decides what was left to be decided automatically.
 *
 * @throws CliError CONFLICT if options contradict each other.
 */
export function decide(config: TrainConfig): DecidedConfig {
  const preset = presets[config.algorithm] ?? {};
  const needsSgd = algorithms[config.algorithm]?.optimizer === "sgd";
  const name = config.optimizer ?? (needsSgd ? "sgd" : (preset.optimizer ?? "adam"));
  const optimizer = optimizers[name];
  const presetRate = name === "sgd" ? preset.learningRate : undefined;
  const decided: DecidedConfig = {
    ...config,
    ...decideOwn(config, optimizer),
    cutoffs: [...new Set(config.cutoffs)].toSorted((a, b) => a - b),
    indexBase: config.indexBase ?? 1,
    labelValues: config.labelValues ?? (config.labelNames === null ? "names" : "ids"),
    optimizer: name,
    learningRate: config.learningRate ?? presetRate ?? optimizer.learningRate,
    scheduleEpochs: config.scheduleEpochs ?? (config.schedule === "step" ? 1 : config.epochs),
  };
  checkTogether(decided);
  return decided;
}

function decideOwn(
  config: TrainConfig,
  optimizer: Optimizer,
): Readonly<Record<string, OptionValue>> {
  const values = ownValues(config);
  const decided = Object.entries(ownOptions(config.algorithm)).map(([name, info]) => [
    name,
    values[name] ?? automaticOwn[name]?.(optimizer) ?? info.default,
  ]);
  return Object.fromEntries(decided) as Readonly<Record<string, OptionValue>>;
}

function checkTogether(config: DecidedConfig): void {
  const { train, sample, test, validation, target, patience, tensorboard } = config;
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
    const taken =
      typeof tensorboard === "string" ? `; ${tensorboard} is --tensorboard's folder` : "";
    conflict(
      `there is no training data${taken}`,
      "name a file, or use --sample for the bundled data",
    );
  }
  if (validation !== null && test !== null) {
    conflict(
      "--validation and --test exclude each other: what is tuned on held-out rows must not see the test set",
      "leave one out (--test none)",
    );
  }
  if (config.optimizer !== "sgd" && algorithms[config.algorithm]?.optimizer === "sgd") {
    conflict(
      `--algorithm ${config.algorithm} adds gradients, for which there is no ${config.optimizer}`,
      "leave --optimizer out, or set it to sgd",
    );
  }
  if (config.paper && presets[config.algorithm]?.published === undefined) {
    conflict(
      `--paper has no values for --algorithm ${config.algorithm}`,
      "its defaults are what is known of it; leave --paper out",
    );
  }
  if (config.schedule === "cosine" && config.scheduleFinal > config.learningRate) {
    conflict(
      `--schedule-final is ${config.scheduleFinal}, but the learning rate is ${config.learningRate}`,
      "a cosine falls",
    );
  }
  for (const [flag, value] of [
    ["--target", target],
    ["--patience", patience],
  ] as const) {
    if (value === null) continue;
    if (!sample && test === null && validation === null) {
      conflict(`${flag} needs something to evaluate`, "add --test or --validation");
    }
    if (config.evaluateEvery === "never") {
      conflict(
        `${flag} is never looked at with --evaluate-every never`,
        "leave one of the two out",
      );
    }
  }
  const { merge, perturbation, momentum } = ownValues(config);
  if (merge === "uniform" && (Number(perturbation) > 0 || Number(momentum) > 0)) {
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
export function storedConfig(config: DecidedConfig): TrainConfig {
  const stored: Record<string, unknown> = {
    ...config,
    out: null,
    force: false,
    resume: null,
    dashboard: false,
  };
  for (const [key, type] of optionsOf(trainSchema)) {
    const value = stored[key];
    if (typeof value === "string" && isPath(type, value)) stored[key] = resolve(value);
  }
  return stored as TrainConfig;
}
