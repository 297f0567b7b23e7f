import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describeShape } from "@heterosgd/model";
import { loadModel } from "@heterosgd/model/node";
import { datasetStatistics, type DatasetStatistics } from "@heterosgd/sparse";
import { runFiles } from "@heterosgd/trainer";
import { environmentLayer, flagLayer, resolveOptions } from "../config/resolve.js";
import { inspectSchema, trainSchema, type InspectConfig } from "../config/schema.js";
import { defaultOf, optionsOf } from "../config/option-text.js";
import { readData, rowsFile } from "../data.js";
import { CliError, exitCodes, type ExitCode } from "../errors.js";
import { formatBytes, formatCount, formatShare, threeDigits } from "../output/format.js";
import type { Output } from "../output/output.js";
import { left, pairLines, right, tableLines } from "../output/table.js";

/** `heterosgd inspect FILE|MODEL|RUN` */
export async function inspectCommand(
  path: string | undefined,
  flags: Readonly<Record<string, unknown>>,
  output: Output,
): Promise<ExitCode> {
  const layers = [flagLayer(inspectSchema, flags), environmentLayer(inspectSchema, process.env)];
  const config = resolveOptions(inspectSchema, layers);
  const file = rowsFile(path, config.sample);
  const found = await kindOf(file);
  await inspectors[found](file, config, output);
  return exitCodes.done;
}

type Kind = "data" | "model" | "run";

const inspectors = { data: inspectData, model: inspectModel, run: inspectRun } as const;

/** What a path is. Where it is nothing that can be read, reading it as data says why. */
async function kindOf(path: string): Promise<Kind> {
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory()) return "run";
  if (stats === null || !stats.isFile()) return "data";
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
    // Safetensors: the length of the header in eight bytes, then JSON.
    const isModel = bytesRead === 9 && buffer[8] === 0x7b && buffer.readUInt32LE(4) === 0;
    return isModel ? "model" : "data";
  } finally {
    await file.close();
  }
}

async function inspectData(path: string, config: InspectConfig, output: Output): Promise<void> {
  output.say(`reading ${path}`);
  const { dataset, format, labelNames, stats, notices } = await readData(path, config);
  for (const notice of notices) output.say(`note: ${path}: ${notice}`);
  const statistics = datasetStatistics(dataset);
  for (const line of dataLines(statistics, format, stats.blankLines)) output.print(line);
  output.document({
    kind: "data",
    path,
    format,
    ...statistics,
    blankLines: stats.blankLines,
    labelNames,
  });
}

function dataLines(s: DatasetStatistics, format: string, blankLines: number): readonly string[] {
  const row = ({ min, mean, max }: DatasetStatistics["rowLengths"]) =>
    `${threeDigits(mean)} a row (${formatCount(min)} to ${formatCount(max)})`;
  return [
    ...pairLines([
      [
        "format",
        blankLines === 0 ? format : `${format}, ${formatCount(blankLines)} blank lines skipped`,
      ],
      ["rows", formatCount(s.rows)],
      [
        "features",
        `${formatCount(s.features)}, ${formatCount(s.featuresNeverSeen)} of them in no row`,
      ],
      [
        "labels",
        `${formatCount(s.labels)}, ${formatCount(s.labelsNeverSeen)} of them on no row, ${formatCount(s.labelsSeenOnce)} on one`,
      ],
      ["values", `${formatCount(s.nonZeros)}, ${row(s.rowLengths)}`],
      ["density", formatShare(s.density, 3)],
      [
        "range",
        s.values === null
          ? "-"
          : `${sixDigits(s.values.min)} to ${sixDigits(s.values.max)}, ${formatCount(s.explicitZeros)} of them 0`,
      ],
      ["labelled", `${formatCount(s.labelEntries)} pairs, ${row(s.labelsOfRows)}`],
      ["without labels", `${formatCount(s.rowsWithoutLabels)} rows`],
      ["without features", `${formatCount(s.rowsWithoutFeatures)} rows`],
      ["memory", formatBytes(s.bytes)],
    ]),
    "",
    ...histogramLines(s),
  ];
}

/** A float32 as it was most likely written. */
function sixDigits(value: number): string {
  return String(Number(value.toPrecision(6)));
}

const BAR = 40;

function histogramLines({ labelFrequencies }: DatasetStatistics): readonly string[] {
  const most = Math.max(1, ...labelFrequencies.map(({ labels }) => labels));
  return tableLines(
    [right("rows of a label"), right("labels"), left("")],
    labelFrequencies.map(({ from, to, labels }) => [
      from === to ? formatCount(from) : `${formatCount(from)} to ${formatCount(to)}`,
      formatCount(labels),
      "#".repeat(Math.ceil((BAR * labels) / most)),
    ]),
  );
}

async function inspectModel(path: string, _config: InspectConfig, output: Output): Promise<void> {
  const { shape, layout, labelNames, info } = await loadModel(path);
  const lines = pairLines([
    ["network", describeShape(shape)],
    ["parameters", `${formatCount(layout.parameterCount)}, ${formatBytes(layout.length * 4)}`],
    [
      "label names",
      labelNames === undefined
        ? "none"
        : `${labelNames.slice(0, 3).join(", ")} … (${formatCount(labelNames.length)})`,
    ],
    ...Object.entries(info),
  ]);
  for (const line of lines) output.print(line);
  const { tensors, parameterCount } = layout;
  output.document({
    kind: "model",
    path,
    shape,
    parameters: parameterCount,
    tensors,
    labelNames: labelNames ?? null,
    info,
  });
}

async function inspectRun(path: string, _config: InspectConfig, output: Output): Promise<void> {
  const config = await readJson(join(path, runFiles.config));
  if (config === null) {
    throw new CliError("NOT_A_RUN", `${path} is no folder of a run: it has no ${runFiles.config}`, {
      hint: "name a data file, a model file or a run's folder",
    });
  }
  const metrics = await readJson(join(path, runFiles.metrics));
  const changed = optionsOf(trainSchema)
    .filter(
      ([key, type]) =>
        config[key] !== undefined &&
        JSON.stringify(config[key]) !== JSON.stringify(defaultOf(type)),
    )
    .map(([key]) => [key, JSON.stringify(config[key])] as const);
  output.print("config, where it is not the default:");
  for (const line of pairLines(changed.map(([key, value]) => [`  ${key}`, value])))
    output.print(line);
  if (metrics === null) output.print(`not finished: there is no ${runFiles.metrics}`);
  else {
    const { reason, seconds, rows, evaluatedOn } = metrics;
    output.print("");
    for (const line of pairLines([
      ["ended because", String(reason)],
      ["rows", formatCount(Number(rows))],
      ["seconds", threeDigits(Number(seconds))],
      ["evaluated on", String(evaluatedOn)],
      ...Object.entries(metrics["metrics"] ?? {}).map(
        ([name, value]) => [name, metricText(value)] as const,
      ),
    ])) {
      output.print(line);
    }
  }
  output.document({ kind: "run", path, config, metrics });
}

function metricText(value: unknown): string {
  return Number.isInteger(value) ? formatCount(Number(value)) : Number(value).toFixed(4);
}

async function readJson(path: string): Promise<Record<string, unknown> | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  } catch {
    return null;
  }
}
