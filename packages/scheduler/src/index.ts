export type * from "./contract.js";
export { adaptiveSgdDefaults } from "./adaptive-sgd/options.js";
export type { AdaptiveSgdOptions } from "./adaptive-sgd/options.js";
export { adaptiveSgd } from "./adaptive-sgd/policy.js";
export type {
  AdaptiveSgdDevice,
  AdaptiveSgdPhase,
  AdaptiveSgdState,
} from "./adaptive-sgd/state.js";
export { scaleBatches } from "./batch-size.js";
export type { BatchBounds, BatchScaling, SizedDevice } from "./batch-size.js";
export type { EvaluateEvery, RunOptions } from "./common/run.js";
export { learningRateAt, warmupFactor } from "./learning-rate.js";
export type { LearningRateSchedule } from "./learning-rate.js";
export type { MergeReplica, MergeRule, MergeWeights } from "./merge-rule.js";
export { countRows, createRowQueue, giveBackRows, rowsLeft, takeRows } from "./row-queue.js";
export type { RowQueue } from "./row-queue.js";
export { SchedulerError } from "./errors.js";
export type { SchedulerErrorCode } from "./errors.js";
