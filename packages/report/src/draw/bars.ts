import { rect, text, type PlotOptions } from "@observablehq/plot";
import type { BarsChart, PartLook } from "../figures/figure.js";
import { valueWords } from "../figures/tables.js";
import { domainOf, xMarks, type Frame } from "./frame.js";
import { FONT_SIZE, shorten, textWidth } from "./labels.js";
import type { LegendEntry } from "./legend.js";
import { colour, lookOf, type Look } from "./themes.js";

const BAR = 46;
const [TOP, BOTTOM] = [0.42, 0.94];

interface PartStyle {
  readonly look: Look;
  readonly fill: string;
  readonly on: string;
}

const states = { training: 0, merging: 1, evaluating: 3 } as const;

/** Waiting is an empty box: it is nothing that a device does. */
function styleOf(part: PartLook): PartStyle {
  if (part === "waiting") {
    const look = { ...lookOf(0), stroke: colour("muted") };
    return { look, fill: colour("surface"), on: colour("ink") };
  }
  const look = lookOf(typeof part === "number" ? part : states[part]);
  return { look, fill: look.stroke, on: look.on };
}

export function barsLegend({ parts }: BarsChart): readonly LegendEntry[] {
  return parts.map(({ label, look: part }) => {
    const { look, fill } = styleOf(part);
    return { label, look, kind: "area", fill };
  });
}

export function barsOptions({ x, parts, bars }: BarsChart, frame: Frame): PlotOptions {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const xs = domainOf(x, sums);
  const inner = frame.width - 36;
  const boxes = bars.flatMap(({ values }, i) => {
    let from = 0;
    return values.flatMap((value, part) => {
      const box = { ...styleOf(parts[part]!.look), from, to: from + value, value, part, bar: i };
      from = box.to;
      return value > 0 ? [box] : [];
    });
  });
  const top = 6;
  return {
    document: frame.document,
    width: frame.width,
    height: top + bars.length * BAR + 44,
    marginTop: top,
    marginRight: 22,
    marginLeft: 14,
    marginBottom: 44,
    x: { domain: [...xs] },
    y: { domain: [bars.length, 0], axis: null },
    marks: [
      ...xMarks(x, [], xs, frame),
      ...boxes.map(({ look, fill, from, to, value, part, bar }) =>
        rect([0], {
          x1: [from],
          x2: [to],
          y1: [bar + TOP],
          y2: [bar + BOTTOM],
          fill,
          stroke: fill === look.stroke ? colour("surface") : look.stroke,
          title: [`${parts[part]!.label}: ${valueWords(value, x)}`],
        }),
      ),
      ...boxes.flatMap(({ on, from, to, value, bar }) => {
        const words = valueWords(value, x);
        const room = (inner * (to - from)) / (xs[1] - xs[0]);
        if (room < textWidth(words) + 6) return [];
        return [
          text([words], {
            x: [(from + to) / 2],
            y: [bar + (TOP + BOTTOM) / 2],
            text: (it: string) => it,
            fill: on,
            fontSize: FONT_SIZE - 1,
          }),
        ];
      }),
      ...bars.map(({ label }, i) =>
        text([shorten(label, frame.isNarrow ? 44 : 90)], {
          x: [0],
          y: [i + TOP - 0.18],
          text: (it: string) => it,
          textAnchor: "start",
          fontSize: FONT_SIZE,
          fill: colour("ink"),
          stroke: colour("surface"),
          strokeWidth: 3,
        }),
      ),
    ],
  };
}
