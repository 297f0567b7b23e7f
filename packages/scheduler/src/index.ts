export type * from "./contract.js";
export { absSgd } from "./abs-sgd/policy.js";
export type { AbsSgdOptions } from "./abs-sgd/options.js";
export type { AbsSgdDevice, AbsSgdState } from "./abs-sgd/state.js";
export { adaptiveHogbatch } from "./adaptive-hogbatch/policy.js";
export type { AdaptiveHogbatchOptions } from "./adaptive-hogbatch/policy.js";
export { adaptiveSgdDefaults } from "./adaptive-sgd/options.js";
export type { AdaptiveSgdOptions } from "./adaptive-sgd/options.js";
export { adaptiveSgd } from "./adaptive-sgd/policy.js";
export type {
  AdaptiveSgdDevice,
  AdaptiveSgdPhase,
  AdaptiveSgdState,
} from "./adaptive-sgd/state.js";
export { asyncSgd } from "./async-sgd/policy.js";
export type { AsyncSgdOptions } from "./async-sgd/policy.js";
export { algorithms } from "./algorithms.js";
export type { Algorithm, AlgorithmOptions } from "./algorithms.js";
export { scaleBatches } from "./batch-size.js";
export type { BatchBounds, BatchScaling, SizedDevice } from "./batch-size.js";
export type {
  ChoiceOption,
  NumberOption,
  OptionInfo,
  OptionValue,
  SwitchOption,
} from "./common/options.js";
export { runOptions } from "./common/run.js";
export type { CheckpointEvery, EvaluateEvery, Run, RunOptions } from "./common/run.js";
export { crossbow } from "./crossbow/policy.js";
export type { CrossbowOptions } from "./crossbow/policy.js";
export { easgd } from "./easgd/policy.js";
export type { EasgdOptions } from "./easgd/policy.js";
export { elasticSgd } from "./elastic/policy.js";
export type { ElasticSgdOptions } from "./elastic/policy.js";
export { hogbatch } from "./hogbatch/policy.js";
export type { HogbatchOptions } from "./hogbatch/policy.js";
export { hogwild } from "./hogwild/policy.js";
export type { HogwildOptions } from "./hogwild/policy.js";
export { lbBsp } from "./lb-bsp/policy.js";
export type { LbBspOptions } from "./lb-bsp/policy.js";
export { localSgd } from "./local-sgd/policy.js";
export type { LocalSgdOptions } from "./local-sgd/policy.js";
export { largestLearningRate, learningRateAt, warmupFactor } from "./learning-rate.js";
export type { LearningRateSchedule } from "./learning-rate.js";
export type { MergeReplica, MergeRule, MergeWeights } from "./merge-rule.js";
export type { Blend, RoundDevice, RoundState } from "./rounds/algorithm.js";
export { countRows, createRowQueue, giveBackRows, rowsLeft, takeRows } from "./row-queue.js";
export type { RowQueue } from "./row-queue.js";
export { SchedulerError } from "./errors.js";
export type { SchedulerErrorCode } from "./errors.js";
export { syncSgd } from "./sync-sgd/policy.js";
export type { SyncSgdOptions } from "./sync-sgd/policy.js";
export type { SharedModelDevice, SharedModelState } from "./shared-model/algorithm.js";
export { ssp } from "./ssp/policy.js";
export type { SspOptions } from "./ssp/policy.js";
