/** The median and the range of several curves that were measured at different places. */

export interface SpreadPoint {
  readonly x: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

type Curve = readonly { readonly x: number; readonly y: number }[];

/**
 * From where all curves have values: at the places of all their points, straight lines between the points. A curve that has ended keeps its
 * last value.
 *
 * @param curves - each by ascending x.
 * @param most - places; evenly chosen ones where there are more, the first and the last among them.
 * @returns nothing where there is no curve, or one of no points.
 */
export function spreadOf(curves: readonly Curve[], most: number): readonly SpreadPoint[] {
  if (curves.length === 0 || curves.some((curve) => curve.length === 0)) return [];
  const from = Math.max(...curves.map((curve) => curve[0]!.x));
  const to = Math.max(...curves.map((curve) => curve.at(-1)!.x));
  const places = new Set(curves.flatMap((curve) => curve.map(({ x }) => x)));
  const within = [...places].filter((x) => x >= from && x <= to).toSorted((a, b) => a - b);
  return evenly(within, most).map((x) => {
    const values = curves.map((curve) => valueAt(curve, x)).toSorted((a, b) => a - b);
    const [below, above] = [(values.length - 1) >> 1, values.length >> 1];
    return {
      x,
      median: (values[below]! + values[above]!) / 2,
      low: values[0]!,
      high: values.at(-1)!,
    };
  });
}

function evenly<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from(
    { length: most },
    (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))]!,
  );
}

function valueAt(curve: Curve, x: number): number {
  const last = curve.at(-1)!;
  if (x >= last.x) return last.y;
  let [low, high] = [0, curve.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve[middle]!.x < x) low = middle + 1;
    else high = middle;
  }
  const [after, before] = [curve[low]!, curve[Math.max(0, low - 1)]!];
  const length = after.x - before.x;
  return length > 0 ? before.y + ((after.y - before.y) * (x - before.x)) / length : after.y;
}
