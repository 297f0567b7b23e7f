import type { Figure } from "../figures/figure.js";
import { drawFigure } from "./draw-figure.js";
import { escaped, serialise } from "./serialise.js";
import { declarations, palettes, withColours, type ThemeName } from "./themes.js";

export interface PictureOptions {
  /** A document to draw with: the browser's, or linkedom's. */
  readonly document: Document;
  /** Of one background; `auto`: as whoever shows the picture prefers. Default: `auto`. */
  readonly theme?: ThemeName | "auto";
  /** Pixels. Default: 720. */
  readonly width?: number;
  /** What the picture is called by those who do not see it. */
  readonly title: string;
}

const GAP = 24;

/**
 * Charts below one another as the text of an SVG file, each with its title. Tables without a chart are left out.
 *
 * @throws RangeError if no figure has a chart.
 */
export function pictureSvg(
  figures: readonly Figure[],
  { document, theme = "auto", width = 720, title }: PictureOptions,
): string {
  const charts = figures.filter(({ chart }) => chart !== null);
  if (charts.length === 0) throw new RangeError("No figure has a chart to be drawn.");
  let height = 0;
  const parts = charts.map((figure) => {
    const svg = drawFigure(figure, { document, width, heading: true });
    svg.setAttribute("y", String(height));
    height += Number(svg.getAttribute("height")) + GAP;
    return serialise(svg);
  });
  height -= GAP;
  const style =
    theme === "auto"
      ? `<style>svg{${declarations("light")}}@media (prefers-color-scheme:dark){svg{${declarations("dark")}}}</style>`
      : "";
  const whole = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="${escaped(title)}">`,
    style,
    `<rect width="100%" height="100%" fill="var(--hg-surface)"/>`,
    ...parts,
    "</svg>\n",
  ].join("");
  return theme === "auto"
    ? whole
    : withColours(whole, theme).replaceAll("currentColor", palettes[theme].ink);
}
