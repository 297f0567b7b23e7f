/**
 * Series of any length in bounded memory, for drawing. A part of the time keeps its first, last, lowest and
 * highest value, which is all that a line chart shows of it (M4: Jugel et al., VLDB 2014).
 */

/** A value at a time. */
export interface Sample {
  /** Seconds since the run began, ascending. */
  readonly at: number;
  /** Training rows done until then. */
  readonly rows: number;
  readonly value: number;
}

/** Collects samples, and forgets those that a chart would not show. */
export interface ThinnedSeries {
  /** Samples that are not finite are left out. */
  push(sample: Sample): void;
  /** At most `limit` of them, in their order, extremes included. */
  samples(): readonly Sample[];
}

/** @param limit - at least 8. */
export function createThinnedSeries(limit: number): ThinnedSeries {
  let kept: Sample[] = [];
  return {
    push(sample) {
      if (!Number.isFinite(sample.value) || !Number.isFinite(sample.at)) return;
      kept.push(sample);
      if (kept.length >= 2 * limit) kept = [...thin(kept, limit, (it) => it)];
    },
    samples: () => thin(kept, limit, (it) => it),
  };
}

/**
 * At most `limit` of some items: of each of `limit / 4` equal parts of the time the first, the last, the lowest and
 * the highest. All where there are no more.
 *
 * @param items - by time.
 * @param limit - at least 8.
 */
export function thin<T>(
  items: readonly T[],
  limit: number,
  sampleOf: (item: T) => { readonly at: number; readonly value: number },
): readonly T[] {
  if (items.length <= limit) return items;
  const parts = Math.floor(limit / 4);
  const from = sampleOf(items[0]!).at;
  const length = sampleOf(items.at(-1)!).at - from;
  const partOf = (item: T) =>
    length > 0 ? Math.min(parts - 1, Math.floor((parts * (sampleOf(item).at - from)) / length)) : 0;
  const kept: T[] = [];
  for (let start = 0; start < items.length;) {
    const part = partOf(items[start]!);
    let [end, low, high] = [start, start, start];
    for (let i = start; i < items.length && partOf(items[i]!) === part; i++) {
      end = i;
      const { value } = sampleOf(items[i]!);
      if (value < sampleOf(items[low]!).value) low = i;
      if (value > sampleOf(items[high]!).value) high = i;
    }
    const chosen = [...new Set([start, low, high, end])].toSorted((a, b) => a - b);
    for (const i of chosen) kept.push(items[i]!);
    start = end + 1;
  }
  return kept;
}
