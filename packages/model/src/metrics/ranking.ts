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
  /** Labels among the best k: whole numbers, so that P@k doesn't depend on how a set was parted. */
  readonly hits: number[];
  readonly ndcg: number[];
  readonly recall: number[];
}

/**
 * Means over all rows, label-less ones included. Entry `i` of each list belongs to `cutoffs[i]`.
 */
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

/**
 * Sums over no rows yet.
 *
 * @throws RangeError unless the cut-offs are ascending whole numbers of at least 1.
 */
export function createMetrics(cutoffs: readonly number[] = defaultCutoffs): MetricSums {
  let before = 0;
  for (const cutoff of cutoffs) {
    if (!Number.isInteger(cutoff) || cutoff <= before) {
      throw new RangeError(
        `Cut-offs must be ascending whole numbers of at least 1, not ${cutoffs.join(", ")}.`,
      );
    }
    before = cutoff;
  }
  const zeros = () => cutoffs.map(() => 0);
  return {
    cutoffs: [...cutoffs],
    rows: 0,
    rowsWithoutLabels: 0,
    hits: zeros(),
    ndcg: zeros(),
    recall: zeros(),
  };
}

/**
 * Counts a batch's rows: row `r`'s predictions are `ids[r·k … r·k + k − 1]`, best first. Where a
 * cut-off exceeds `k` (there are fewer classes), the missing predictions count as wrong.
 *
 * With y the row's n labels: P@k = (1/k) Σ y, nDCG@k = Σ y/log₂(rank + 1) over the same sum for a
 * perfect ranking of min(k, n) labels, R@k = (1/n) Σ y; as in the Extreme Classification
 * Repository.
 */
export function addMetrics(
  sums: MetricSums,
  batch: Pick<Batch, "rows" | "labelOffsets" | "labels">,
  ids: Uint32Array,
  k: number,
): void {
  const { cutoffs } = sums;
  const { rows, labelOffsets, labels } = batch;
  if (ids.length < rows * k) {
    throw new RangeError(`${rows} rows of ${k} predictions need more than ${ids.length} ids.`);
  }
  for (let row = 0; row < rows; row++) {
    sums.rows++;
    const from = labelOffsets[row]!;
    const to = labelOffsets[row + 1]!;
    if (from === to) {
      sums.rowsWithoutLabels++;
      continue;
    }
    let hits = 0;
    let gain = 0;
    let bestGain = 0;
    let rank = 0;
    for (let i = 0; i < cutoffs.length; i++) {
      const cutoff = cutoffs[i]!;
      for (; rank < cutoff; rank++) {
        const discount = 1 / Math.log2(rank + 2);
        if (rank < to - from) bestGain += discount;
        if (rank < k && includes(labels, from, to, ids[row * k + rank]!)) {
          hits++;
          gain += discount;
        }
      }
      sums.hits[i]! += hits;
      sums.ndcg[i]! += gain / bestGain;
      sums.recall[i]! += hits / (to - from);
    }
  }
}

/** Whether the ascending `values[from … to − 1]` hold `wanted`. */
function includes(values: Uint32Array, from: number, to: number, wanted: number): boolean {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low < to && values[low] === wanted;
}

/**
 * The sums over several parts of a set, in the order given.
 *
 * @throws RangeError if there is no part, or cut-offs differ.
 */
export function mergeMetrics(parts: readonly MetricSums[]): MetricSums {
  const [head] = parts;
  if (head === undefined) throw new RangeError("There are no parts to merge.");
  const merged = createMetrics(head.cutoffs);
  for (const part of parts) {
    if (part.cutoffs.join() !== head.cutoffs.join()) {
      throw new RangeError(
        `Cut-offs ${part.cutoffs.join(", ")} can't be merged with ${head.cutoffs.join(", ")}.`,
      );
    }
    merged.rows += part.rows;
    merged.rowsWithoutLabels += part.rowsWithoutLabels;
    for (let i = 0; i < head.cutoffs.length; i++) {
      merged.hits[i]! += part.hits[i]!;
      merged.ndcg[i]! += part.ndcg[i]!;
      merged.recall[i]! += part.recall[i]!;
    }
  }
  return merged;
}

/** The means over all rows; 0 if no row was counted. */
export function metricsOf(sums: MetricSums): Metrics {
  const { cutoffs, rows, rowsWithoutLabels } = sums;
  const mean = (sum: number) => (rows === 0 ? 0 : sum / rows);
  return {
    cutoffs,
    rows,
    rowsWithoutLabels,
    precision: sums.hits.map((hits, i) => mean(hits / cutoffs[i]!)),
    ndcg: sums.ndcg.map(mean),
    recall: sums.recall.map(mean),
  };
}
