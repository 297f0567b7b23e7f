import { plot } from "@observablehq/plot";
import type { Figure } from "../figures/figure.js";
import { barsLegend, barsOptions } from "./bars.js";
import { MARGIN_TOP, type Frame } from "./frame.js";
import { apart, FONTS, FONT_SIZE, shorten } from "./labels.js";
import { drawLegend } from "./legend.js";
import { endLabels, LABEL_GAP, linesLegend, linesOptions, type EndLabel } from "./lines.js";
import { stripOptions } from "./strip.js";
import { colour } from "./themes.js";

const SVG = "http://www.w3.org/2000/svg";

export interface DrawOptions {
  /** The browser's document, or one of linkedom under Node. */
  readonly document: Document;
  /** Pixels, at least 280. From 520 on names stand at the ends of lines. Default: 720. */
  readonly width?: number;
  /** Whether the title is drawn above the chart, for pictures without a page round them. Default: false. */
  readonly heading?: boolean;
}

/** Wide enough for names at the ends of lines. */
const NARROW = 520;
const HEADING = 30;

/**
 * Draws a figure's chart as SVG. Its colours are variables (`--hg-ink`, `--hg-s1` and so on), which `declarations`
 * gives for a style sheet. The drawing is an image with a name and a description for those who do not see it.
 *
 * @throws TypeError if the figure has a table only.
 */
export function drawFigure(
  { title, description, chart }: Figure,
  { document, width = 720, heading = false }: DrawOptions,
): SVGSVGElement {
  if (chart === null) throw new TypeError("The figure has no chart to be drawn.");
  const frame: Frame = { document, width, isNarrow: width < NARROW };
  const [legend, options] =
    chart.kind === "lines"
      ? [linesLegend(chart), linesOptions(chart, frame)]
      : chart.kind === "bars"
        ? [barsLegend(chart), barsOptions(chart, frame)]
        : [[], stripOptions(chart, frame)];
  const drawn = plot(options) as SVGSVGElement & ScaledPlot;
  const above = drawLegend(legend, width, document);
  const top = (heading ? HEADING : 0) + (above?.height ?? 0);
  const height = top + options.height!;

  const svg = element(document, "svg", {
    viewBox: `0 0 ${width} ${height}`,
    width: String(width),
    height: String(height),
    role: "img",
    "aria-label": `${title}. ${description}`,
    fill: "currentColor",
    color: colour("ink"),
    "font-family": FONTS,
    "font-size": String(FONT_SIZE),
    "text-anchor": "middle",
  }) as SVGSVGElement;
  if (heading) {
    const text = element(document, "text", {
      x: "14",
      y: "20",
      "font-size": "15",
      "font-weight": "600",
      "text-anchor": "start",
      fill: colour("ink"),
    });
    text.append(shorten(title, 80));
    svg.append(text);
  }
  if (above !== null) svg.append(moved(above.svg, 0, heading ? HEADING : 0, document));
  const group = moved(drawn, 0, top, document);
  if (chart.kind === "lines") {
    for (const label of placedLabels(endLabels(chart, frame), drawn, options.height!, document)) {
      group.append(label);
    }
  }
  svg.append(group);
  return svg;
}

/** What Plot adds to the drawing. */
interface ScaledPlot {
  scale(name: "x" | "y"): { apply(value: number): number } | undefined;
}

function placedLabels(
  labels: readonly EndLabel[],
  drawn: ScaledPlot,
  height: number,
  document: Document,
): readonly Element[] {
  const [x, y] = [drawn.scale("x"), drawn.scale("y")];
  if (x === undefined || y === undefined || labels.length === 0) return [];
  const right = Math.max(...labels.map(({ point }) => x.apply(point.x)));
  const places = apart(
    labels.map(({ point }) => Math.max(MARGIN_TOP, y.apply(point.y))),
    LABEL_GAP,
    height - 42,
  );
  return labels.map(({ label }, i) => {
    const text = element(document, "text", {
      x: String(right + 8),
      y: String(places[i]!),
      dy: "0.32em",
      "text-anchor": "start",
      fill: colour("ink"),
    });
    text.append(label);
    return text;
  });
}

/** A drawing of Plot's as a group: without its style sheet, which is for pages. */
function moved(svg: Element, x: number, y: number, document: Document): Element {
  const group = element(document, "g", { transform: `translate(${x},${y})` });
  // The list changes as they are moved.
  for (const child of Array.from(svg.childNodes)) {
    if (child.nodeName.toLowerCase() !== "style") group.append(child);
  }
  return group;
}

function element(
  document: Document,
  name: string,
  attributes: Readonly<Record<string, string>>,
): Element {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
