import type { Loss } from "./kernels/contract.js";
import { sigmoid } from "./kernels/plain/activation.js";

/**
 * A label's probability from its logit. Under `softmax` the labels of a row share a probability of
 * 1; under `sigmoid` each label's is independent, and `logSumExp` isn't used.
 */
export function probability(logit: number, logSumExp: number, loss: Loss): number {
  return loss === "softmax" ? Math.exp(logit - logSumExp) : sigmoid(logit);
}
