import type { Dataset } from "./types.js";

/** Shortest, longest and mean row. All 0 where there are no rows. */
export interface LengthStatistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

/** How many labels have from `from` to `to` rows. */
export interface FrequencyBucket {
  readonly from: number;
  readonly to: number;
  readonly labels: number;
}

export interface DatasetStatistics {
  readonly rows: number;
  readonly features: number;
  readonly labels: number;
  readonly nonZeros: number;
  readonly labelEntries: number;
  /** Stored values as a part of rows × features, from 0 to 1. */
  readonly density: number;
  readonly bytes: number;
  /** Non-zeros of a row. */
  readonly rowLengths: LengthStatistics;
  /** Labels of a row. */
  readonly labelsOfRows: LengthStatistics;
  readonly rowsWithoutFeatures: number;
  readonly rowsWithoutLabels: number;
  readonly featuresNeverSeen: number;
  readonly labelsNeverSeen: number;
  readonly labelsSeenOnce: number;
  /** Stored values that are 0. */
  readonly explicitZeros: number;
  /** Smallest and largest stored value; null if there are none. */
  readonly values: { readonly min: number; readonly max: number } | null;
  /** Labels by number of rows, in ranges 1, 2–3, 4–7, … up to the most frequent label's. */
  readonly labelFrequencies: readonly FrequencyBucket[];
}

/** Counts what a data set holds. Takes one pass, and memory for a counter a feature or entry. */
export function datasetStatistics(dataset: Dataset): DatasetStatistics {
  const { rows, features, labels, buffer } = dataset;
  const nonZeros = features.indices.length;
  const labelEntries = labels.indices.length;
  const rowLengths = lengths(features.offsets);
  const labelsOfRows = lengths(labels.offsets);
  const labelCounts = occurrences(labels.indices, labels.columns);
  const featureCounts = occurrences(features.indices, features.columns);
  const cells = rows * features.columns;
  return {
    rows,
    features: features.columns,
    labels: labels.columns,
    nonZeros,
    labelEntries,
    density: cells === 0 ? 0 : nonZeros / cells,
    bytes: buffer.byteLength,
    rowLengths: rowLengths.statistics,
    labelsOfRows: labelsOfRows.statistics,
    rowsWithoutFeatures: rowLengths.empty,
    rowsWithoutLabels: labelsOfRows.empty,
    featuresNeverSeen: features.columns - featureCounts.length,
    labelsNeverSeen: labels.columns - labelCounts.length,
    labelsSeenOnce: labelCounts.reduce((once, count) => once + (count === 1 ? 1 : 0), 0),
    ...valueRange(features.values),
    labelFrequencies: frequencies(labelCounts),
  };
}

function lengths(offsets: Uint32Array): { statistics: LengthStatistics; empty: number } {
  const rows = offsets.length - 1;
  if (rows === 0) return { statistics: { min: 0, max: 0, mean: 0 }, empty: 0 };
  let min = Infinity;
  let max = 0;
  let empty = 0;
  for (let row = 0; row < rows; row++) {
    const length = offsets[row + 1]! - offsets[row]!;
    min = Math.min(min, length);
    max = Math.max(max, length);
    if (length === 0) empty++;
  }
  return { statistics: { min, max, mean: offsets[rows]! / rows }, empty };
}

/**
 * How often each index occurs that does at all. A counter for every column, unless there are so
 * many more columns than entries (hashed features) that sorting takes less memory.
 */
function occurrences(indices: Uint32Array, columns: number): Uint32Array {
  if (columns <= 2 * indices.length + 65_536) {
    const counts = new Uint32Array(columns);
    for (const index of indices) counts[index]!++;
    return counts.filter((count) => count > 0);
  }
  const sorted = indices.toSorted();
  const counts = new Uint32Array(sorted.length);
  let distinct = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i > 0 && sorted[i] !== sorted[i - 1]) distinct++;
    counts[distinct]!++;
  }
  return counts.filter((count) => count > 0);
}

function valueRange(values: Float32Array): Pick<DatasetStatistics, "explicitZeros" | "values"> {
  if (values.length === 0) return { explicitZeros: 0, values: null };
  let min = Infinity;
  let max = -Infinity;
  let explicitZeros = 0;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
    if (value === 0) explicitZeros++;
  }
  return { explicitZeros, values: { min, max } };
}

function frequencies(counts: Uint32Array): readonly FrequencyBucket[] {
  const buckets: { from: number; to: number; labels: number }[] = [];
  for (const count of counts) {
    const power = Math.floor(Math.log2(count));
    while (buckets.length <= power) {
      const from = 2 ** buckets.length;
      buckets.push({ from, to: 2 * from - 1, labels: 0 });
    }
    buckets[power]!.labels++;
  }
  return buckets;
}
