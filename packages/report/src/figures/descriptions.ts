/** Charts in words, for those who do not see them. */
import type { BarsChart, LinesChart } from "./figure.js";
import { valueWords } from "./tables.js";

const MOST_LINES = 6;

/** Where each line begins and ends, and between what values it lies. */
export function describeLines({ x, y, lines }: LinesChart): string {
  const words = lines.slice(0, MOST_LINES).map(({ label, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return `${label}: no values`;
    const values = points.map((point) => point.y);
    const [low, high] = [Math.min(...values), Math.max(...values)].map((it) => valueWords(it, y));
    return `${label}: ${valueWords(first.y, y)} at ${valueWords(first.x, x)}, ${valueWords(last.y, y)} at ${valueWords(last.x, x)}, between ${low} and ${high}`;
  });
  const more = lines.length > MOST_LINES ? `; and ${lines.length - MOST_LINES} more` : "";
  return `Line chart of ${y.label} over ${x.label}. ${words.join("; ")}${more}.`;
}

export function describeBars({ x, parts, bars }: BarsChart): string {
  const words = bars.slice(0, MOST_LINES).map(({ label, values }) => {
    const shares = values.map((value, i) => `${parts[i]!.label} ${valueWords(value, x)}`);
    return `${label}: ${shares.join(", ")}`;
  });
  const more = bars.length > MOST_LINES ? `; and ${bars.length - MOST_LINES} more` : "";
  return `Bar chart of ${x.label}. ${words.join("; ")}${more}.`;
}
