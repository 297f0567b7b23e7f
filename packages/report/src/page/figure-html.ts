import { drawFigure } from "../draw/draw-figure.js";
import { escaped, serialise } from "../draw/serialise.js";
import type { Figure, Table } from "../figures/figure.js";

/** Pixels of the two drawings of a chart. */
const [WIDE, NARROW] = [720, 340];

export interface FigureHtmlOptions {
  /** A document to draw with: the browser's, or linkedom's. */
  readonly document: Document;
  /** The figure's id in its page, of letters, digits and hyphens. */
  readonly anchor: string;
  /** Of the figure's title. Default: 2. */
  readonly headingLevel?: 2 | 3;
}

/**
 * A figure as it stands in a page with `pageStyles`: title, caption, the chart for wide and for narrow pages, its data
 * as a table that opens.
 */
export function figureHtml(
  figure: Figure,
  { document, anchor, headingLevel = 2 }: FigureHtmlOptions,
): string {
  const { title, caption, chart, table } = figure;
  const heading = `h${headingLevel}`;
  const draw = (width: number) => serialise(drawFigure(figure, { document, width }));
  const data = tableHtml(table, title);
  return [
    `<figure id="${anchor}" aria-labelledby="${anchor}-title">`,
    `<figcaption><${heading} id="${anchor}-title">${escaped(title)}</${heading}><p>${escaped(caption)}</p></figcaption>`,
    ...(chart === null
      ? [data]
      : [
          `<div class="wide">${draw(WIDE)}</div><div class="narrow">${draw(NARROW)}</div>`,
          `<details><summary>Data of “${escaped(title)}”</summary>${data}</details>`,
        ]),
    "</figure>",
  ].join("\n");
}

/** A table that scrolls within the page, by keyboard too. */
function tableHtml({ columns, rows, note }: Table, title: string): string {
  const classOf = (i: number) => (columns[i]?.numeric === true ? ' class="number"' : "");
  const head = columns
    .map(({ label }, i) => `<th scope="col"${classOf(i)}>${escaped(label)}</th>`)
    .join("");
  const body = rows.map((cells) => {
    const [first = "", ...others] = cells.map(escaped);
    const rest = others.map((cell, i) => `<td${classOf(i + 1)}>${cell}</td>`).join("");
    return `<tr><th scope="row"${classOf(0)}>${first}</th>${rest}</tr>`;
  });
  return [
    `<div class="scroll" role="region" aria-label="Table: ${escaped(title)}" tabindex="0">`,
    `<table><thead><tr>${head}</tr></thead><tbody>`,
    ...body,
    "</tbody></table></div>",
    ...(note === null ? [] : [`<p class="note">${escaped(note)}</p>`]),
  ].join("\n");
}
