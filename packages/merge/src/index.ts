export type { MergeReplica, MergeRule, MergeWeights, NormalizedMergeOptions } from "./types.js";
export { MergeError } from "./errors.js";
export type { MergeErrorCode } from "./errors.js";
export { mergeDefaults, normalizedMerge, paperMerge, uniformMerge } from "./rules.js";
export { l2Norm, sliceFor, weightedSum } from "./arithmetic.js";
export type { Slice } from "./arithmetic.js";
