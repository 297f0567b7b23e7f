import { axisX, gridX, ruleX, text, type Markish } from "@observablehq/plot";
import type { Axis, ChartMark } from "../figures/figure.js";
import { FONT_SIZE, shorten, textWidth } from "./labels.js";
import { colour } from "./themes.js";

/** The room that a drawing has. */
export interface Frame {
  readonly document: Document;
  readonly width: number;
  readonly isNarrow: boolean;
}

export const MARGIN_TOP = 24;

/** How a value of an axis is written at a tick. */
export function tickWords({ percent = false, whole = false }: Axis): (value: number) => string {
  if (percent) return (value) => `${Number((100 * value).toFixed(1))} %`;
  if (whole) {
    return (value) => (Number.isInteger(value) ? shortCount(value) : "");
  }
  return (value) => (value === 0 ? "0" : String(Number(value.toPrecision(4))));
}

/** `1,500`, `12k`, `1.5M` */
function shortCount(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toPrecision(4))}k` : threeCount(value);
}

function threeCount(value: number): string {
  return value.toLocaleString("en-US");
}

/** Where an axis begins and ends, given what is on it. */
export function domainOf(
  { zero, to }: Axis,
  values: Iterable<number>,
): readonly [from: number, to: number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) [low, high] = [0, 1];
  if (zero) low = Math.min(0, low);
  high = Math.max(high, to ?? high);
  if (high > low) return [low, high];
  return [
    zero ? 0 : low - Math.max(1e-3, Math.abs(low) / 10),
    high + Math.max(1e-3, Math.abs(high) / 10),
  ];
}

/** The x axis with its grid, and what happened along it. */
export function xMarks(
  axis: Axis,
  marks: readonly ChartMark[],
  [from, to]: readonly [number, number],
  frame: Frame,
): readonly Markish[] {
  const ticks = frame.isNarrow ? 4 : 8;
  return [
    gridX({ ticks, stroke: colour("grid"), strokeOpacity: 1 }),
    axisX({
      ticks,
      tickFormat: tickWords(axis),
      label: axis.label,
      labelAnchor: "center",
      labelArrow: "none",
      fontSize: FONT_SIZE,
      color: colour("muted"),
    }),
    ruleX(marks, { x: "x", stroke: colour("muted"), strokeDasharray: "3 3", title: "text" }),
    ...labelsOf(marks, [from, to], frame).map((label) =>
      text([label], {
        x: "x",
        text: "text",
        frameAnchor: "top",
        dy: -MARGIN_TOP + 8,
        textAnchor: label.anchor,
        fill: colour("muted"),
        fontSize: FONT_SIZE - 1,
      }),
    ),
  ];
}

/** Of what happened, as much as there is room for at the top. */
function labelsOf(
  marks: readonly ChartMark[],
  [from, to]: readonly [number, number],
  { width, isNarrow }: Frame,
): readonly (ChartMark & { readonly anchor: "start" | "end" })[] {
  const inner = width - (isNarrow ? 60 : 180);
  let free = -Infinity;
  return marks.flatMap((mark) => {
    const words = shorten(mark.text, 28);
    const at = to > from ? (inner * (mark.x - from)) / (to - from) : 0;
    const length = textWidth(words);
    const anchor = at + length > inner ? "end" : "start";
    const begins = anchor === "start" ? at : at - length;
    if (begins < free) return [];
    free = begins + length + 8;
    return [{ x: mark.x, text: words, anchor } as const];
  });
}
