import { rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import {
  comparisonFigures,
  contestantsOf,
  figureIds,
  pageHtml,
  pictureSvg,
  ReportError,
  runSection,
  type Figure,
  type FigureId,
  type ReportSection,
  type RunSeries,
} from "@heterosgd/report";
import { createDocument, pngOf, readRun } from "@heterosgd/report/node";
import { runFiles } from "@heterosgd/trainer";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import { commandWords, quoted } from "../invocation.js";
import { counted } from "../output/format.js";
import type { Output } from "../output/output.js";
import { readSmallFile } from "../small-file.js";
import { suggest } from "../suggest.js";
import { namesOf, type RunConfig } from "./report-names.js";

export interface ReportFlags {
  readonly out?: string;
  /** Separated by commas. */
  readonly only?: string;
  readonly title?: string;
  readonly force?: boolean;
}

/** With more runs each kind of run has charts of its first one only. */
const MOST_SECTIONS = 8;

interface ReadFolder {
  readonly path: string;
  readonly folder: string;
  readonly config: RunConfig | null;
  readonly run: RunSeries;
}

/** `heterosgd report RUN…` */
export async function reportCommand(
  paths: readonly string[],
  { out, only, title, force = false }: ReportFlags,
  output: Output,
): Promise<ExitCode> {
  const charts = only === undefined ? null : chartsOf(only);
  const file =
    out ?? (paths.length === 1 ? join(folderOf(paths[0]!), "report.html") : "report.html");
  const format = formatOf(file);
  await requireFree(file, force);

  const read: ReadFolder[] = [];
  for (const path of paths) read.push(await readFolder(path, output));
  const names = namesOf(read);
  const runs = read.map(({ run }, i) => ({ ...run, name: names[i]! }));
  const heading =
    title ?? (runs.length === 1 ? names[0]! : `Comparison of ${counted(runs.length, "run")}`);
  const sections = sectionsOf(runs, read).map((section) => ({
    ...section,
    figures: section.figures.filter(({ id }) => charts?.has(id) ?? true),
  }));
  const figures = sections.flatMap((section) => section.figures);
  requireCharts(figures, charts, format);

  const document = createDocument();
  const command = commandWords(["report", ...paths.map(quoted), ...flagWords({ only, title })]);
  const picture = (theme: "auto" | "light") =>
    pictureSvg(figures, { document, theme, title: heading });
  if (format === "png") await save(file, await pngOf(picture("light")));
  else if (format === "svg") await save(file, picture("auto"));
  else {
    const notes = [`Made by ${command}`];
    await save(file, pageHtml({ title: heading, sections, notes }, document));
  }
  output.print(file);
  output.document({
    file,
    runs: read.map(({ path, run }, i) => ({
      path,
      name: names[i],
      seed: run.seed,
      finished: run.reason !== null,
    })),
    charts: [...new Set(figures.map(({ id }) => id))],
  });
  return exitCodes.done;
}

/** @throws ReportError UNKNOWN_CHART */
function chartsOf(list: string): ReadonlySet<FigureId> {
  const names = list.split(",").map((name) => name.trim());
  for (const name of names) {
    if (figureIds.some((id) => id === name)) continue;
    const near = suggest(name, figureIds);
    throw new ReportError(
      "UNKNOWN_CHART",
      `--only: there is no chart ${JSON.stringify(name)}; ${near === null ? `there are ${figureIds.join(", ")}` : `did you mean ${near}?`}`,
    );
  }
  return new Set(names as FigureId[]);
}

type Format = "html" | "svg" | "png";

function formatOf(file: string): Format {
  const format = extname(file).slice(1).toLowerCase();
  if (format === "html" || format === "svg" || format === "png") return format;
  throw new CliError(
    "BAD_VALUE",
    `--out: expected a file named *.html, *.svg or *.png, not ${file}`,
  );
}

function folderOf(path: string): string {
  return basename(path) === runFiles.events ? dirname(path) : path;
}

/** @throws CliError REPORT_EXISTS */
async function requireFree(file: string, force: boolean): Promise<void> {
  const stats = await stat(file).catch(() => null);
  if (stats === null || (force && stats.isFile())) return;
  throw new CliError("REPORT_EXISTS", `${file} is there already`, {
    hint: stats.isFile()
      ? "name another with --out, or pass --force to replace it"
      : "name another with --out",
  });
}

/** @throws CliError NOT_A_RUN, ReportError NO_DATA */
async function readFolder(path: string, output: Output): Promise<ReadFolder> {
  const folder = folderOf(path);
  const events = join(folder, runFiles.events);
  const name = basename(resolve(folder));
  output.detail(`reading ${events}`);
  try {
    const { run, unread } = await readRun(events, name);
    // The last line of a run that was killed may be half written.
    if (unread > 1) output.warn(`${events}: ${counted(unread, "line")} that hold no event`);
    if (run.reason === null) {
      output.say(`note: ${folder}: the run is not finished, or was broken off`);
    }
    return { path, folder: name, config: await configOf(folder), run };
  } catch (cause) {
    if (cause instanceof ReportError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    throw new CliError(
      "NOT_A_RUN",
      isMissing
        ? `${folder} is no folder of a run: it has no ${runFiles.events}`
        : `${events} cannot be read: ${message}`,
      { hint: "report RUN…, such as report runs/first", cause },
    );
  }
}

/** Null where there is none that can be read: the run is named by its folder then. */
async function configOf(folder: string): Promise<RunConfig | null> {
  try {
    const config: unknown = JSON.parse(await readSmallFile(join(folder, runFiles.config)));
    return typeof config === "object" && config !== null && !Array.isArray(config)
      ? (config as RunConfig)
      : null;
  } catch {
    return null;
  }
}

function sectionsOf(
  runs: readonly RunSeries[],
  read: readonly ReadFolder[],
): readonly ReportSection[] {
  if (runs.length === 1) return [runSection(runs[0]!)];
  const contestants = contestantsOf(runs);
  const comparison: ReportSection = {
    title: "Comparison",
    facts: contestants.map(({ name, runs: own }) => [
      name,
      `${counted(own.length, "run")}, seeds ${own.map(({ seed }) => seed ?? "?").join(", ")}`,
    ]),
    figures: comparisonFigures(contestants),
  };
  const isFirst = (i: number) => runs.findIndex(({ name }) => name === runs[i]!.name) === i;
  const shown = runs.length <= MOST_SECTIONS ? runs : runs.filter((_, i) => isFirst(i));
  return [
    comparison,
    ...shown.slice(0, MOST_SECTIONS).map((run) => {
      const { folder } = read[runs.indexOf(run)]!;
      const seed = run.seed === null ? "" : `, seed ${run.seed}`;
      return runSection({ ...run, name: `${run.name}${seed} (${folder})` });
    }),
  ];
}

/** @throws ReportError NO_DATA */
function requireCharts(
  figures: readonly Figure[],
  charts: ReadonlySet<FigureId> | null,
  format: Format,
): void {
  const drawn = figures.filter(({ chart }) => chart !== null);
  const isEnough = format === "html" ? charts === null || figures.length > 0 : drawn.length > 0;
  if (isEnough) return;
  const which = charts === null ? "any chart" : `the charts ${[...charts].join(", ")}`;
  const tables =
    figures.length > drawn.length ? "; tables are for .html files, not for pictures" : "";
  throw new ReportError("NO_DATA", `there is nothing to draw for ${which}${tables}`);
}

function flagWords(
  flags: Readonly<Record<"only" | "title", string | undefined>>,
): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, quoted(value)],
  );
}

/** Whole or not at all. @throws CliError REPORT_NOT_WRITTEN */
async function save(file: string, content: string | Uint8Array): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, content);
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such folder" : message;
    throw new CliError("REPORT_NOT_WRITTEN", `${file} cannot be written: ${reason}`, {
      hint: "name another with --out",
      cause,
    });
  }
}
