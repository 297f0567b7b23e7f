import { MergeError } from "./errors.js";
import type { MergeReplica, MergeRule, MergeWeights, NormalizedMergeOptions } from "./types.js";

/** The values published in paper A (arXiv 2110.07029). */
export const paperMerge = {
  perturbation: 0.1,
  normThreshold: 0.1,
  momentum: 0.9,
} as const satisfies Required<NormalizedMergeOptions>;

/**
 * What {@link normalizedMerge} takes where an option is left out. Perturbation and momentum are
 * off: both enlarge the model while updates are unequal, which hurts where a run has few merges.
 */
export const mergeDefaults = {
  perturbation: 0,
  normThreshold: paperMerge.normThreshold,
  momentum: 0,
} as const satisfies Required<NormalizedMergeOptions>;

/**
 * The normalised merge of Adaptive SGD: replicas count by their updates, or by their batch sizes
 * when all made equally many. With δ > 0 the replica with most updates is then weighed up and the
 * one with fewest down (the first of several), on condition that every norm is small.
 *
 * A replica without updates weighs 0, unless none has any.
 *
 * Source: paper A, "Normalized model merging"; see {@link paperMerge} for its values.
 *
 * @throws {@link MergeError} `INVALID_OPTION`.
 */
export function normalizedMerge({
  perturbation = mergeDefaults.perturbation,
  normThreshold = mergeDefaults.normThreshold,
  momentum = mergeDefaults.momentum,
}: NormalizedMergeOptions = {}): MergeRule {
  if (!(perturbation >= 0 && perturbation <= 1)) {
    throw invalidOption("perturbation", perturbation, "a number from 0 to 1");
  }
  if (!(normThreshold >= 0)) throw invalidOption("normThreshold", normThreshold, "0 or more");
  if (!(momentum >= 0 && momentum < 1)) {
    throw invalidOption("momentum", momentum, "a number from 0 to below 1");
  }
  const needsNorm = perturbation > 0;

  function weigh(replicas: readonly MergeReplica[], parameters: number): MergeWeights {
    requireReplicas(replicas);
    const updates = replicas.map((replica) => replica.updates);
    const most = Math.max(...updates);
    const fewest = Math.min(...updates);
    const equal = most === fewest;
    const stateWeights = share(equal ? replicas.map((replica) => replica.batchRows) : updates);
    const perturbed = needsNorm && !equal && allSmall(replicas, normThreshold * parameters);
    if (!perturbed) return { weights: stateWeights, stateWeights, perturbed };
    const weights = [...stateWeights];
    scaleAt(weights, updates.indexOf(most), 1 + perturbation);
    scaleAt(weights, updates.indexOf(fewest), 1 - perturbation);
    return { weights, stateWeights, perturbed };
  }

  return { needsNorm, momentum, weigh };
}

/**
 * Weighs all replicas alike, 1/n each: the merge of Elastic SGD and Local SGD, and of Adaptive SGD
 * with normalisation switched off.
 */
export function uniformMerge(): MergeRule {
  return { needsNorm: false, momentum: 0, weigh: weighUniformly };
}

function weighUniformly(replicas: readonly MergeReplica[]): MergeWeights {
  requireReplicas(replicas);
  const weights = replicas.map(() => 1 / replicas.length);
  return { weights, stateWeights: weights, perturbed: false };
}

function share(amounts: readonly number[]): readonly number[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  return amounts.map((amount) => amount / total);
}

function scaleAt(weights: number[], index: number, factor: number): void {
  weights[index] = (weights[index] ?? 0) * factor;
}

function allSmall(replicas: readonly MergeReplica[], bound: number): boolean {
  return replicas.every(({ norm }, index) => {
    if (norm === null) {
      throw new MergeError(
        "MISSING_NORM",
        `Replica ${index} has no norm, but the perturbation depends on it. ` +
          "Measure every replica's norm while the rule says needsNorm, or set perturbation to 0.",
      );
    }
    return norm < bound;
  });
}

function requireReplicas(replicas: readonly MergeReplica[]): void {
  if (replicas.length > 0) return;
  throw new MergeError(
    "NO_REPLICAS",
    "There is no replica to merge, but a merge needs one at least. Keep the global model as it is.",
  );
}

function invalidOption(name: string, value: unknown, expected: string): MergeError {
  return new MergeError(
    "INVALID_OPTION",
    `The merge option ${name} is ${String(value).slice(0, 40)}, but must be ${expected}.`,
  );
}
