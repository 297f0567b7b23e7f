import type { Batch } from "../kernels/contract.js";

/**
 * Sums of ranking metrics over rows: plain JSON, so that devices can evaluate parts of a set and
 * the parts be merged. Entry `i` of each list belongs to `cutoffs[i]`.
 */
export interface MetricSums {
  readonly cutoffs: readonly number[];
  /** Rows counted, those without labels included. */
  rows: number;
  /** Rows without labels: they count as 0 in every metric. */
  rowsWithoutLabels: number;
  readonly precision: number[];
  readonly ndcg: number[];
  readonly recall: number[];
}

/** Means over all rows, label-less ones included. Entry `i` of each list belongs to `cutoffs[i]`. */
export interface Metrics {
  readonly cutoffs: readonly number[];
  readonly rows: number;
  readonly rowsWithoutLabels: number;
  /** P@k: labels among the best k, over k. */
  readonly precision: readonly number[];
  /** nDCG@k: discounted gain over the best possible one of the row. */
  readonly ndcg: readonly number[];
  /** R@k: labels among the best k, over the number of the row's labels. */
  readonly recall: readonly number[];
}

/** The cut-offs k that the field reports. */
export const defaultCutoffs: readonly number[] = [1, 3, 5];

export function createMetrics(cutoffs: readonly number[] = defaultCutoffs): MetricSums {
  void cutoffs;
  throw new Error("to be written");
}

/** Counts a batch's rows: row `r`'s predictions are `ids[r·k … r·k + k − 1]`, best first. */
export function addMetrics(
  sums: MetricSums,
  batch: Pick<Batch, "rows" | "labelOffsets" | "labels">,
  ids: Uint32Array,
  k: number,
): void {
  void [sums, batch, ids, k];
  throw new Error("to be written");
}

/** The sums over several parts of a set. */
export function mergeMetrics(parts: readonly MetricSums[]): MetricSums {
  void parts;
  throw new Error("to be written");
}

/** The means; 0 everywhere if no row was counted. */
export function metricsOf(sums: MetricSums): Metrics {
  void sums;
  throw new Error("to be written");
}
