/** Cut-offs that the number of labels allows; 1 in any case. */
export function usableCutoffs(cutoffs: readonly number[], labels: number): readonly number[] {
  const usable = cutoffs.filter((k) => k <= labels);
  return usable.length > 0 ? usable : [1];
}

/**
 * Rows that a device evaluates at a time: whole batches, small enough that all devices end at about the same
 * time, large enough to be worth a message.
 */
export function evaluationChunk(rows: number, devices: number, batchRows: number): number {
  const share = Math.ceil(rows / (devices * 8));
  return Math.max(1, Math.ceil(share / batchRows) * batchRows);
}
