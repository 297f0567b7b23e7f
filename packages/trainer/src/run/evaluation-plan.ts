import { createMetrics } from "@heterosgd/model";

/** Batches that a device evaluates in one call at most: it must be heard of now and then. */
const MOST_BATCHES = 4;

/**
 * Cut-offs that the number of labels allows; 1 in any case.
 *
 * @throws RangeError unless they are ascending whole numbers of at least 1.
 */
export function usableCutoffs(cutoffs: readonly number[], labels: number): readonly number[] {
  const usable = createMetrics(cutoffs).cutoffs.filter((k) => k <= labels);
  return usable.length > 0 ? usable : [1];
}

/** The largest batch that calls are made of: a policy's may be for training only. */
const MOST_ROWS = 256;

/**
 * Rows that a device evaluates at a time: whole batches, few enough that all devices end at about
 * the same time.
 */
export function evaluationChunk(rows: number, devices: number, largestBatch: number): number {
  const batchRows = Math.min(largestBatch, MOST_ROWS);
  const share = Math.ceil(rows / (devices * 8 * batchRows));
  return batchRows * Math.max(1, Math.min(share, MOST_BATCHES));
}
