import { escaped } from "../draw/serialise.js";
import type { Figure } from "../figures/figure.js";
import { figureHtml } from "./figure-html.js";
import { pageStyles } from "./styles.js";

/** A part of a page: a run, or a comparison. */
export interface ReportSection {
  readonly title: string;
  /** Names and values, such as of the run's algorithm and data. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly figures: readonly Figure[];
}

export interface ReportPage {
  readonly title: string;
  readonly sections: readonly ReportSection[];
  /** Lines below all else, such as the command that made the page. */
  readonly notes: readonly string[];
}

/** No script, and nothing from anywhere else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * A page that needs nothing but itself: no script, no network. Whatever names say, it is text there.
 *
 * @param document - to draw with: the browser's, or linkedom's.
 */
export function pageHtml({ title, sections, notes }: ReportPage, document: Document): string {
  // A single section's title is the page's.
  const isSingle = sections.length === 1;
  const anchored = sections.map((section, i) => ({
    section,
    anchor: isSingle ? "" : `part-${i + 1}`,
    figures: section.figures.map((figure) => ({
      figure,
      anchor: isSingle ? figure.id : `part-${i + 1}-${figure.id}`,
    })),
  }));
  const links = anchored.map(
    ({ section, anchor, figures }) =>
      `<nav aria-label="${isSingle ? "Charts" : `Charts of ${escaped(section.title)}`}">${
        isSingle ? "" : `<a href="#${anchor}">${escaped(section.title)}</a>`
      }<ul>${figures
        .map(({ figure, anchor: at }) => `<li><a href="#${at}">${escaped(figure.title)}</a></li>`)
        .join("")}</ul></nav>`,
  );
  const body = anchored.map(({ section, anchor, figures }) =>
    [
      `<section${isSingle ? "" : ` id="${anchor}" aria-labelledby="${anchor}-title"`}>`,
      isSingle ? "" : `<h2 id="${anchor}-title">${escaped(section.title)}</h2>`,
      factsHtml(section.facts),
      figures.length === 0 ? "<p>The run has nothing yet that a chart could show.</p>" : "",
      ...figures.map(({ figure, anchor: at }) =>
        figureHtml(figure, { document, anchor: at, headingLevel: isSingle ? 2 : 3 }),
      ),
      "</section>",
    ].join("\n"),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
${pageStyles()}
</style>
</head>
<body>
<a class="skip" href="#content">Skip to the charts</a>
<header>
<h1>${escaped(title)}</h1>
${links.join("\n")}
</header>
<main id="content" tabindex="-1">
${body.join("\n")}
</main>
<footer>
${notes.map((note) => `<p>${escaped(note)}</p>`).join("\n")}
</footer>
</body>
</html>
`;
}

function factsHtml(facts: ReportSection["facts"]): string {
  if (facts.length === 0) return "";
  const pairs = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`);
  return `<dl>${pairs.join("")}</dl>`;
}
