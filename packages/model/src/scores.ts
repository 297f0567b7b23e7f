import type { Loss } from "./kernels/contract.js";

/**
 * A label's probability from its logit. Under `softmax` the labels of a row share a probability of
 * 1; under `sigmoid` each label's is independent, and `logSumExp` isn't used.
 */
export function probability(logit: number, logSumExp: number, loss: Loss): number {
  if (loss === "softmax") return Math.exp(logit - logSumExp);
  // Of the two forms, the one whose exponential cannot overflow.
  if (logit >= 0) return 1 / (1 + Math.exp(-logit));
  const e = Math.exp(logit);
  return e / (1 + e);
}
