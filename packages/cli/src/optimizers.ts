import type { UpdateRule } from "@heterosgd/model";
import type { TrainConfig } from "./config/schema.js";

export interface Optimizer {
  /** Null: plain SGD, in place. */
  readonly rule: UpdateRule | null;
  /** Taken where none is set. */
  readonly learningRate: number;
  /**
   * Whether the learning rate follows the size of the batch where nothing is set: a rule for SGD
   * only.
   */
  readonly scaleLearningRate: boolean;
}

export const optimizers: Readonly<Record<NonNullable<TrainConfig["optimizer"]>, Optimizer>> = {
  sgd: { rule: null, learningRate: 0.5, scaleLearningRate: true },
  adagrad: {
    rule: { name: "adagrad", epsilon: 1e-8 },
    learningRate: 0.05,
    scaleLearningRate: false,
  },
  adam: {
    rule: { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
    learningRate: 0.01,
    scaleLearningRate: false,
  },
};
