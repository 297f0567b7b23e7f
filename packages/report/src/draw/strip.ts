import { areaY, link, text, type PlotOptions } from "@observablehq/plot";
import type { StripChart } from "../figures/figure.js";
import { domainOf, MARGIN_TOP, xMarks, type Frame } from "./frame.js";
import { FONT_SIZE, shorten } from "./labels.js";
import { colour, lookOf } from "./themes.js";

/** Pixels of a lane with its name above it. */
const LANE = 46;
/** Where the strip begins and ends within its lane. */
const [TOP, BOTTOM] = [0.42, 0.94];

export function stripOptions({ x, lanes, marks }: StripChart, frame: Frame): PlotOptions {
  const xs = domainOf(
    x,
    lanes.flatMap(({ from, to }) => [from, to]),
  );
  const marginTop = marks.length > 0 ? MARGIN_TOP : 6;
  return {
    document: frame.document,
    width: frame.width,
    height: marginTop + lanes.length * LANE + 44,
    marginTop,
    marginRight: 22,
    marginLeft: 14,
    marginBottom: 44,
    x: { domain: [...xs] },
    y: { domain: [lanes.length, 0], axis: null },
    marks: [
      ...xMarks(x, marks, xs, frame),
      ...lanes.flatMap(({ label, look, from, to, bins }, i) => {
        const floor = i + BOTTOM;
        const points = bins.flatMap((bin, at) => {
          const after = bins[at + 1];
          const top = floor - bin.share * (BOTTOM - TOP);
          const isEnd = after === undefined || after.from > bin.to;
          return [
            { x: bin.from, top },
            { x: bin.to, top },
            ...(isEnd ? [{ x: bin.to, top: floor }] : []),
            ...(after !== undefined && isEnd ? [{ x: after.from, top: floor }] : []),
          ];
        });
        return [
          areaY(points, { x: "x", y1: () => floor, y2: "top", fill: lookOf(look).stroke }),
          link([0], {
            x1: [from],
            x2: [to],
            y1: [floor],
            y2: [floor],
            stroke: colour("muted"),
          }),
          text([shorten(label, frame.isNarrow ? 40 : 80)], {
            x: [xs[0]],
            y: [i + TOP - 0.18],
            text: (it: string) => it,
            textAnchor: "start",
            fontSize: FONT_SIZE,
            fill: colour("ink"),
            stroke: colour("surface"),
            strokeWidth: 3,
          }),
        ];
      }),
    ],
  };
}
