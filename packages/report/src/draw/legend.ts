import { dot, link, plot, rect, text } from "@observablehq/plot";
import { colour, type Look } from "./themes.js";
import { FONT_SIZE, shorten, textWidth } from "./labels.js";

/** What a colour, a dash and a symbol stand for. */
export interface LegendEntry {
  readonly label: string;
  readonly look: Look;
  /** An area has no dash and no symbol. */
  readonly kind: "line" | "area";
  /** Of an area; `stroke` where it is filled with the look's colour. */
  readonly fill?: string;
}

const INDENT = 14;
const SAMPLE = 26;
const GAP = 16;
const ROW = 20;

/** The entries in as many rows as they need; nothing where there is only one, or none. */
export function drawLegend(
  entries: readonly LegendEntry[],
  width: number,
  document: Document,
): { readonly svg: Element; readonly height: number } | null {
  if (entries.length < 2) return null;
  let [x, row] = [INDENT, 0];
  const placed = entries.map((entry) => {
    const label = shorten(entry.label, Math.max(8, Math.floor((width - INDENT - SAMPLE - 8) / 7)));
    const needed = SAMPLE + 6 + textWidth(label) + GAP;
    if (x > INDENT && x + needed - GAP > width) [x, row] = [INDENT, row + 1];
    const place = { ...entry, label, x, y: row * ROW + ROW / 2 };
    x += needed;
    return place;
  });
  const height = (row + 1) * ROW + 4;
  const marks = placed.flatMap(({ label, look, kind, fill = look.stroke, x: from, y }) => [
    ...(kind === "line"
      ? [
          link([0], {
            x1: [from],
            x2: [from + SAMPLE],
            y1: [y],
            y2: [y],
            stroke: look.stroke,
            strokeWidth: 2,
            strokeDasharray: look.dash,
          }),
          dot([0], { x: [from + SAMPLE / 2], y: [y], ...symbolOf(look) }),
        ]
      : [
          rect([0], {
            x1: [from],
            x2: [from + SAMPLE],
            y1: [y - 6],
            y2: [y + 6],
            fill,
            stroke: look.stroke,
          }),
        ]),
    text([label], {
      x: [from + SAMPLE + 6],
      y: [y],
      text: [label],
      textAnchor: "start",
      fill: colour("ink"),
      fontSize: FONT_SIZE,
    }),
  ]);
  const svg = plot({
    document,
    width,
    height,
    margin: 0,
    axis: null,
    x: { domain: [0, width], range: [0, width] },
    y: { domain: [0, height], range: [0, height] },
    marks,
  });
  return { svg, height };
}

/** A look's symbol as options of a mark of dots. */
export function symbolOf(look: Look): {
  readonly symbol: Look["symbol"];
  readonly r: number;
  readonly stroke: string;
  readonly strokeWidth: number;
  readonly fill: string;
} {
  const isOpen = look.symbol === "times" || look.symbol === "plus";
  return {
    symbol: look.symbol,
    r: 3.5,
    stroke: look.stroke,
    strokeWidth: isOpen ? 2 : 1,
    fill: isOpen ? "none" : look.stroke,
  };
}
