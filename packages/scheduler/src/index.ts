export type * from "./contract.js";
export { adaptiveSgdDefaults } from "./adaptive-sgd-options.js";
export type { AdaptiveSgdOptions, EvaluateEvery } from "./adaptive-sgd-options.js";
export type { BatchScaling } from "./batch-size.js";
export type { LearningRateSchedule } from "./learning-rate.js";
export type { MergeReplica, MergeRule, MergeWeights } from "./merge-rule.js";
export { SchedulerError } from "./errors.js";
export type { SchedulerErrorCode } from "./errors.js";
