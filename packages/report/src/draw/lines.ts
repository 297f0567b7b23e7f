import { areaY, axisY, dot, gridY, line, type Markish, type PlotOptions } from "@observablehq/plot";
import type { ChartLine, LinesChart, Point } from "../figures/figure.js";
import { domainOf, MARGIN_TOP, tickWords, xMarks, type Frame } from "./frame.js";
import { apart, FONT_SIZE, shorten, textWidth } from "./labels.js";
import { symbolOf, type LegendEntry } from "./legend.js";
import { colour, lookOf } from "./themes.js";

/** Beyond these only the legend names the lines. */
const MOST_ENDS = 6;
/** Of a line with more points some are marked by its symbol. */
const MOST_SYMBOLS = 10;

const HEIGHT = 300;
const MARGIN_BOTTOM = 42;
const INNER_HEIGHT = HEIGHT - MARGIN_TOP - MARGIN_BOTTOM;
/** Pixels from one name to the next. */
export const LABEL_GAP = FONT_SIZE + 3;
/** A line that ends farther from the end than this share of the axis ends early. */
const EARLY = 0.15;

/** A name beside the end of a line. */
export interface EndLabel {
  readonly label: string;
  readonly point: Point;
}

export function linesLegend({ lines }: LinesChart): readonly LegendEntry[] {
  return lines.map(({ label, look }) => ({ label, look: lookOf(look), kind: "line" }));
}

/** Names at the ends of the lines, where there is room: not where ends lie on one another, or lines end early. */
export function endLabels({ x, y, lines }: LinesChart, { isNarrow }: Frame): readonly EndLabel[] {
  if (isNarrow || lines.length < 2 || lines.length > MOST_ENDS) return [];
  const labels = lines.flatMap(({ label, points }) => {
    const point = points.at(-1);
    return point === undefined ? [] : [{ label: shorten(label, 22), point }];
  });
  const [left, right] = domainOf(
    x,
    valuesOf(lines, (point) => point.x),
  );
  const [low, high] = domainOf(y, heightsOf(lines));
  const isFarLeft = labels.some(({ point }) => right - point.x > EARLY * (right - left));
  const places = labels.map(({ point }) => (INNER_HEIGHT * (high - point.y)) / (high - low));
  const moved = apart(places, LABEL_GAP, INNER_HEIGHT);
  const isFarOff = moved.some((place, i) => Math.abs(place - places[i]!) > LABEL_GAP);
  return isFarLeft || isFarOff ? [] : labels;
}

export function linesOptions(chart: LinesChart, frame: Frame): PlotOptions {
  const { x, y, lines, marks, steps } = chart;
  const xs = domainOf(
    x,
    valuesOf(lines, (point) => point.x),
  );
  const ys = domainOf(y, heightsOf(lines));
  const curve = steps === null ? "linear" : (`step-${steps}` as const);
  const longest = Math.max(0, ...endLabels(chart, frame).map(({ label }) => textWidth(label)));
  return {
    document: frame.document,
    width: frame.width,
    height: frame.isNarrow ? 240 : HEIGHT,
    marginTop: MARGIN_TOP,
    marginRight: longest > 0 ? longest + 14 : 14,
    marginLeft: 52,
    marginBottom: MARGIN_BOTTOM,
    x: { domain: [...xs] },
    y: { domain: [...ys], nice: true },
    marks: [
      gridY({ ticks: 5, stroke: colour("grid"), strokeOpacity: 1 }),
      axisY({
        ticks: 5,
        tickFormat: tickWords(y),
        label: y.label,
        labelArrow: "none",
        labelOffset: 46,
        fontSize: FONT_SIZE,
        color: colour("muted"),
      }),
      ...xMarks(x, marks, xs, frame),
      ...lines.flatMap((it) => lineMarks(it, curve)),
    ],
  };
}

function lineMarks(
  { points, band = [], parts = [], look }: ChartLine,
  curve: "linear" | "step-after" | "step-before",
): readonly Markish[] {
  const { stroke, dash } = lookOf(look);
  return [
    areaY(band, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.18 }),
    ...parts.map((part) =>
      line(part, { x: "x", y: "y", stroke, strokeWidth: 1, strokeOpacity: 0.45, curve }),
    ),
    line(points, { x: "x", y: "y", stroke, strokeWidth: 2, strokeDasharray: dash, curve }),
    dot(marked(points), { x: "x", y: "y", ...symbolOf(lookOf(look)) }),
  ];
}

function marked(points: readonly Point[]): readonly Point[] {
  if (points.length <= MOST_SYMBOLS) return points;
  return Array.from(
    { length: MOST_SYMBOLS },
    (_, i) => points[Math.round((i * (points.length - 1)) / (MOST_SYMBOLS - 1))]!,
  );
}

function* valuesOf(lines: readonly ChartLine[], of: (point: Point) => number): Iterable<number> {
  for (const { points, parts = [] } of lines) {
    for (const point of points) yield of(point);
    for (const part of parts) for (const point of part) yield of(point);
  }
}

function* heightsOf(lines: readonly ChartLine[]): Iterable<number> {
  yield* valuesOf(lines, (point) => point.y);
  for (const { band = [] } of lines) {
    for (const { low, high } of band) {
      yield low;
      yield high;
    }
  }
}
