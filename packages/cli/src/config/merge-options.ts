import type { OptionInfo } from "@heterosgd/scheduler";

/** What algorithms that merge replicas by a rule can be told of it. */
export const mergeOptions = {
  merge: {
    kind: "choice",
    default: "normalized",
    choices: ["normalized", "uniform"],
    help: "normalized: replicas count by their updates. uniform: all the same.",
  },
  perturbation: {
    kind: "number",
    default: 0,
    min: 0,
    max: 1,
    help: "Weighs the busiest replica up and the idlest down by this share.",
  },
  normThreshold: {
    kind: "number",
    default: 0.1,
    min: 0,
    help: "Perturbs only while each replica's norm, divided by the number of parameters, is below it.",
  },
  momentum: {
    kind: "number",
    default: 0,
    min: 0,
    below: 1,
    help: "How much of the model's previous move a merge adds.",
  },
} as const satisfies Readonly<Record<string, OptionInfo>>;
