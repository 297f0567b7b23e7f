import { thin } from "../series/thinned.js";
import { shareWords, threeDigits } from "../words.js";
import type { Axis, BarsChart, LinesChart, StripChart, Table } from "./figure.js";

/** More rows nobody reads. */
const MOST_ROWS = 240;
const FEWEST_OF_A_LINE = 8;

const text = (label: string) => ({ label, numeric: false });
const number = (label: string) => ({ label, numeric: true });

/** A value of an axis as tables and descriptions show it. */
export function valueWords(value: number, { percent = false, whole = false }: Axis): string {
  if (percent) return shareWords(value);
  return whole ? threeDigits(value).replace(/\.0+$/, "") : threeDigits(value);
}

/** The points of all lines; of long lines those that show their course and extremes. */
export function linesTable({ x, y, lines }: LinesChart, of: string): Table {
  const hasBand = lines.some(({ band = [] }) => band.length > 0);
  const most = Math.max(FEWEST_OF_A_LINE, Math.floor(MOST_ROWS / Math.max(1, lines.length)));
  let isThinned = false;
  const rows = lines.flatMap(({ label, points, band = [] }) => {
    const kept = thin(points, most, (point) => ({ at: point.x, value: point.y }));
    isThinned ||= kept.length < points.length;
    return kept.map((point) => {
      const around = band.find((it) => it.x === point.x);
      const ends = around === undefined ? ["", ""] : [around.low, around.high];
      return [
        label,
        valueWords(point.x, x),
        valueWords(point.y, y),
        ...(hasBand ? ends.map((end) => (end === "" ? "" : valueWords(end as number, y))) : []),
      ];
    });
  });
  return {
    columns: [
      text(of),
      number(x.label),
      number(y.label),
      ...(hasBand ? [number("lowest"), number("highest")] : []),
    ],
    rows,
    note: isThinned ? "Of long lines the table has the points that show their extremes." : null,
  };
}

const PARTS_OF_TIME = 10;

/** How busy each lane was in each tenth of the time. */
export function stripTable({ x, lanes }: StripChart, end: number): Table {
  const tenth = end / PARTS_OF_TIME;
  const edges = Array.from({ length: PARTS_OF_TIME }, (_, i) => i * tenth);
  return {
    columns: [
      text("device"),
      ...edges.map((edge) => number(`${threeDigits(edge)} to ${threeDigits(edge + tenth)}`)),
    ],
    rows: lanes.map(({ label, bins }) => [
      label,
      ...edges.map((edge) => {
        let busy = 0;
        for (const { from, to, share } of bins) {
          busy += share * Math.max(0, Math.min(to, edge + tenth) - Math.max(from, edge));
        }
        return tenth > 0 ? shareWords(Math.min(1, busy / tenth)) : "–";
      }),
    ]),
    note: `Columns are tenths of the ${x.label}.`,
  };
}

export function barsTable({ x, parts, bars }: BarsChart, of: string): Table {
  return {
    columns: [text(of), ...parts.map(({ label }) => number(label))],
    rows: bars.map(({ label, values }) => [label, ...values.map((value) => valueWords(value, x))]),
    note: null,
  };
}
