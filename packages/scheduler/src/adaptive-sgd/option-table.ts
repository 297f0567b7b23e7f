import { defaultGain, defaultThroughput } from "../batch-size.js";
import type { BatchScaling } from "../batch-size.js";
import type { OptionTable } from "../common/options.js";
import type { RunOptions } from "../common/run.js";
import type { MergeRule } from "../merge-rule.js";
import { adaptiveSgdDefaults } from "./options.js";
import type { AdaptiveSgdOptions } from "./options.js";

/** The options of `adaptiveSgd` that are its own, as plain values. */
export interface AdaptiveSgdValues {
  readonly batch?: number;
  readonly batchMin?: number;
  readonly batchReference?: number;
  readonly megaBatch?: number;
  readonly batchScaling?: BatchScaling["rule"];
  readonly kappa?: number;
  readonly minThroughput?: number;
  readonly beta?: number;
  readonly dynamicDispatch?: boolean;
  readonly scaleLearningRate?: boolean;
  readonly warmupBatch?: number;
}

export const adaptiveSgdOptions = {
  batch: {
    kind: "count",
    default: adaptiveSgdDefaults.batchMax,
    min: 1,
    help: "Largest batch, with which every device starts.",
  },
  batchMin: {
    kind: "count",
    default: null,
    min: 1,
    help: "Smallest batch. Automatic: an eighth of the largest.",
  },
  batchReference: {
    kind: "count",
    default: null,
    min: 1,
    help: "Size of batch for which the learning rate is meant. Automatic: the largest.",
  },
  megaBatch: {
    kind: "count",
    default: null,
    min: 1,
    help:
      "Rows trained on between two merges. Automatic: 100 batches, or a quarter of the rows if " +
      "that is less.",
  },
  batchScaling: {
    kind: "choice",
    default: adaptiveSgdDefaults.batchScaling.rule,
    choices: ["relative", "proportional", "fixed", "off"],
    help: "How sizes of batches move until all devices make equally many updates.",
  },
  kappa: {
    kind: "number",
    default: defaultGain,
    above: 0,
    max: 1,
    help: "Gain of the relative rule.",
  },
  minThroughput: {
    kind: "number",
    default: defaultThroughput,
    min: 0,
    below: 1,
    help:
      "Share of its rows a second at the largest batch that a device keeps at least under the " +
      "relative rule, which shrinks no batch further than to that.",
  },
  beta: {
    kind: "number",
    default: null,
    above: 0,
    help: "Rows of a step of the proportional rule (automatic: batchMin/2) and the fixed one (32).",
  },
  dynamicDispatch: {
    kind: "switch",
    default: adaptiveSgdDefaults.dynamicDispatch,
    help: "Batches go to whichever device is free. Off: every device gets equally many.",
  },
  scaleLearningRate: {
    kind: "switch",
    default: adaptiveSgdDefaults.scaleLearningRate,
    help: "Learning rate in proportion to the size of the batch; meant for plain SGD.",
  },
  warmupBatch: {
    kind: "count",
    default: null,
    min: 1,
    help: "Rows of a batch during warm-up. Automatic: batchMin.",
  },
} as const satisfies OptionTable<AdaptiveSgdValues>;

/** The options as `adaptiveSgd` takes them. */
export function fromValues(
  values: AdaptiveSgdValues & RunOptions,
  merge: MergeRule,
): AdaptiveSgdOptions {
  const {
    batch,
    batchMin,
    batchReference,
    megaBatch,
    batchScaling,
    kappa,
    minThroughput,
    beta,
    ...same
  } = values;
  return {
    ...same,
    merge,
    batch: {
      ...(batch === undefined ? {} : { max: batch }),
      ...(batchMin === undefined ? {} : { min: batchMin }),
      ...(batchReference === undefined ? {} : { reference: batchReference }),
    },
    ...(megaBatch === undefined ? {} : { megaBatchRows: megaBatch }),
    batchScaling: scalingOf(batchScaling ?? adaptiveSgdDefaults.batchScaling.rule, {
      ...(kappa === undefined ? {} : { gain: kappa }),
      ...(minThroughput === undefined ? {} : { throughput: minThroughput }),
      ...(beta === undefined ? {} : { step: beta }),
    }),
  };
}

function scalingOf(
  rule: BatchScaling["rule"],
  { gain, throughput, step }: { gain?: number; throughput?: number; step?: number },
): BatchScaling {
  if (rule === "off") return { rule };
  if (rule !== "relative") return step === undefined ? { rule } : { rule, step };
  return {
    rule,
    ...(gain === undefined ? {} : { gain }),
    ...(throughput === undefined ? {} : { throughput }),
  };
}
