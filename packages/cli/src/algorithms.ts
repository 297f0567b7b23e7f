/** From a configuration to the policy that it names: by the registry, not by name. */
import { normalizedMerge, paperMerge, uniformMerge, type MergeRule } from "@heterosgd/merge";
import {
  algorithms,
  type CheckpointEvery,
  type LearningRateSchedule,
  type OptionValue,
  type Policy,
} from "@heterosgd/scheduler";
import type { DecidedConfig } from "./config/complete.js";
import { mergeOptions } from "./config/merge-options.js";
import { ownValues } from "./config/own-options.js";

/** What is taken for an algorithm where nothing is set, beyond what its own options say. */
export interface Preset {
  /** What `--paper` sets. */
  readonly published?: Readonly<Record<string, OptionValue>>;
  readonly optimizer?: "sgd";
  readonly learningRate?: number;
}

// A step on a single row goes astray where the mean of a batch does not.
const rowByRow: Preset = { optimizer: "sgd", learningRate: 0.1 };
const byGradients: Preset = { learningRate: 4 };
// Four devices are three updates behind one another, and go astray at what two of them bear.
const byStaleGradients: Preset = { learningRate: 2 };

export const presets: Readonly<Record<string, Preset>> = {
  "adaptive-sgd": {
    published: { batchScaling: "proportional", merge: "normalized", ...paperMerge },
  },
  hogwild: rowByRow,
  hogbatch: rowByRow,
  "adaptive-hogbatch": rowByRow,
  sync: byGradients,
  "lb-bsp": byGradients,
  "abs-sgd": byGradients,
  async: byStaleGradients,
  ssp: byStaleGradients,
  // Its momentum makes the central model follow the replicas, not go further than they do.
  crossbow: { learningRate: 2 },
};

/** @throws SchedulerError, MergeError INVALID_OPTION */
export function createPolicy(config: DecidedConfig): Policy {
  const algorithm = algorithms[config.algorithm];
  if (algorithm === undefined) throw new TypeError(`no algorithm ${config.algorithm}`);
  const values = ownValues(config);
  const own = Object.entries(values).filter(([name]) => Object.hasOwn(algorithm.options, name));
  return algorithm.create({
    epochs: config.epochs,
    schedule: scheduleOf(config),
    warmupEpochs: config.warmupEpochs,
    evaluateEvery: config.evaluateEvery,
    checkpointEvery: roundsBetween(config.checkpointEvery),
    ...(config.maxSteps === null ? {} : { maxSteps: config.maxSteps }),
    ...(algorithm.needsMerge ? { merge: mergeRuleOf(values) } : {}),
    own: Object.fromEntries(own),
  });
}

/** Times are not for the policy to tell. */
function roundsBetween(when: DecidedConfig["checkpointEvery"]): CheckpointEvery {
  return when === "epoch" || when === "merge" || typeof when === "number" ? when : "never";
}

function scheduleOf(config: DecidedConfig): LearningRateSchedule {
  const {
    learningRate: rate,
    scheduleEpochs,
    scheduleFactor,
    scheduleFinal,
    scheduleDecay,
  } = config;
  switch (config.schedule) {
    case "constant":
      return { kind: "constant", rate };
    case "step":
      return { kind: "step", rate, everyEpochs: scheduleEpochs, factor: scheduleFactor };
    case "cosine":
      return { kind: "cosine", rate, epochs: scheduleEpochs, finalRate: scheduleFinal };
    case "inverse":
      return { kind: "inverse", rate, decay: scheduleDecay };
  }
}

function mergeRuleOf(values: Readonly<Record<string, OptionValue>>): MergeRule {
  if (values["merge"] === "uniform") return uniformMerge();
  const number = (name: "perturbation" | "normThreshold" | "momentum") =>
    Number(values[name] ?? mergeOptions[name].default);
  return normalizedMerge({
    perturbation: number("perturbation"),
    normThreshold: number("normThreshold"),
    momentum: number("momentum"),
  });
}
