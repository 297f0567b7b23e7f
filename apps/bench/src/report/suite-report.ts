/** `bench report FOLDER` */
import { writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { figureIds, pageHtml, pictureSvg, ReportError } from "@heterosgd/report";
import { createDocument, pngOf } from "@heterosgd/report/node";
import { readResults, type Results } from "../suite/results-folder.js";
import { SuiteError } from "../suite/suite-error.js";
import { suiteSections, type SuiteSection } from "./suite-sections.js";

export interface SuiteReportOptions {
  readonly out?: string;
  /** Charts, sets and platforms. */
  readonly only?: readonly string[];
}

/** @throws SuiteError */
export async function reportSuite(
  folder: string,
  { out = join(folder, "report.html"), only = [] }: SuiteReportOptions,
): Promise<void> {
  const format = extname(out).slice(1).toLowerCase();
  if (!["html", "svg", "png"].includes(format)) {
    throw new SuiteError(`--out: expected a file named *.html, *.svg or *.png, not ${out}`);
  }
  const results = readResults(folder);
  const sections = selected(suiteSections(results), only);
  const figures = sections.flatMap((section) => section.figures);
  const drawn = format === "html" ? figures : figures.filter(({ chart }) => chart !== null);
  if (drawn.length === 0) throw new SuiteError(`${folder} has no results that could be drawn`);
  const content = await contentOf(format, results, sections);
  try {
    writeFileSync(out, content);
  } catch (error) {
    throw new SuiteError(`${out} cannot be written: ${(error as Error).message}`, { cause: error });
  }
  console.log(out);
}

async function contentOf(
  format: string,
  { suite }: Results,
  sections: readonly SuiteSection[],
): Promise<string | Uint8Array> {
  const document = createDocument();
  if (format === "html") {
    const notes = [
      suite.description,
      `Made by npm run bench -- report, from the suite ${suite.name}`,
    ];
    return pageHtml({ title: `Suite ${suite.name}`, sections, notes }, document);
  }
  const isSingle = sections.length === 1;
  const figures = sections.flatMap(({ title, figures: own }) =>
    own.map((figure) => (isSingle ? figure : { ...figure, title: `${figure.title}: ${title}` })),
  );
  const picture = (theme: "auto" | "light") =>
    pictureSvg(figures, { document, theme, title: `Suite ${suite.name}` });
  if (format === "svg") return picture("auto");
  try {
    return await pngOf(picture("light"));
  } catch (error) {
    if (error instanceof ReportError) throw new SuiteError(error.message, { cause: error });
    throw error;
  }
}

/** What is left of sections and their charts. @throws SuiteError for a name that is none of theirs */
export function selected(
  sections: readonly SuiteSection[],
  only: readonly string[],
): readonly SuiteSection[] {
  const charts = only.filter((name) => figureIds.some((id) => id === name));
  const places = only.filter((name) => !charts.includes(name));
  const known = [...new Set(sections.flatMap(({ set, platform }) => [set, platform]))];
  const unknown = places.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new SuiteError(
      `--only: there is no ${unknown}; there are ${[...known, ...figureIds].join(", ")}`,
    );
  }
  // Of sets and of platforms, each only where any is named.
  const allows = (names: readonly string[], name: string) =>
    names.length === 0 || names.includes(name);
  const sets = places.filter((name) => sections.some(({ set }) => set === name));
  const platforms = places.filter((name) => sections.some(({ platform }) => platform === name));
  return sections
    .filter(({ set, platform }) => allows(sets, set) && allows(platforms, platform))
    .map((section) => ({
      ...section,
      figures: section.figures.filter(({ id }) => allows(charts, id)),
    }));
}
