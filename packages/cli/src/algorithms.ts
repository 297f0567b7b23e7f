import { normalizedMerge, paperMerge, uniformMerge, type MergeRule } from "@heterosgd/merge";
import {
  adaptiveSgd,
  type BatchScaling,
  type LearningRateSchedule,
  type Policy,
} from "@heterosgd/scheduler";
import type { CompleteConfig } from "./config/complete.js";
import type { TrainConfig } from "./config/schema.js";

export interface Algorithm {
  /** What `--paper` sets. */
  readonly published: Partial<TrainConfig>;
  /** @throws SchedulerError, MergeError INVALID_OPTION */
  create(config: CompleteConfig): Policy;
}

/** One more algorithm is one more name in the schema and one more entry here. */
export const algorithms: Readonly<Record<TrainConfig["algorithm"], Algorithm>> = {
  "adaptive-sgd": {
    published: { batchScaling: "proportional", merge: "normalized", ...paperMerge },
    create: (config) =>
      adaptiveSgd({
        epochs: config.epochs,
        schedule: scheduleOf(config),
        merge: mergeRuleOf(config),
        batch: {
          max: config.batch,
          min: config.batchMin,
          reference: config.batchReference,
        },
        megaBatchRows: config.megaBatch,
        batchScaling: scalingOf(config),
        dynamicDispatch: config.dynamicDispatch,
        scaleLearningRate: config.scaleLearningRate,
        warmupEpochs: config.warmupEpochs,
        warmupBatch: config.warmupBatch,
        evaluateEvery: config.evaluateEvery,
        ...(config.maxSteps === null ? {} : { maxSteps: config.maxSteps }),
      }),
  },
};

function scheduleOf(config: CompleteConfig): LearningRateSchedule {
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

function scalingOf({ batchScaling: rule, kappa, beta }: CompleteConfig): BatchScaling {
  switch (rule) {
    case "relative":
      return { rule, gain: kappa };
    case "proportional":
    case "fixed":
      return { rule, step: beta };
    case "off":
      return { rule };
  }
}

function mergeRuleOf({ merge, perturbation, normThreshold, momentum }: CompleteConfig): MergeRule {
  return merge === "uniform"
    ? uniformMerge()
    : normalizedMerge({ perturbation, normThreshold, momentum });
}
