import { open, stat } from "node:fs/promises";
import { datasetStatistics, type DatasetStatistics } from "@heterosgd/sparse";
import { environmentLayer, flagLayer, resolveOptions } from "../config/resolve.js";
import { inspectSchema, type InspectConfig } from "../config/schema.js";
import { readData, rowsFile } from "../data.js";
import { exitCodes, type ExitCode } from "../errors.js";
import { counted, formatBytes, formatCount, formatShare, threeDigits } from "../output/format.js";
import type { Output } from "../output/output.js";
import { left, pairLines, right, tableLines } from "../output/table.js";
import { isCheckpoint } from "../model-path.js";
import { inspectCheckpoint } from "./inspect-checkpoint.js";
import { inspectModel, inspectRun } from "./inspect-result.js";

/** `heterosgd inspect FILE|MODEL|RUN|CHECKPOINT` */
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

type Kind = "data" | "model" | "run" | "checkpoint";

const inspectors = {
  data: inspectData,
  model: inspectModel,
  run: inspectRun,
  checkpoint: inspectCheckpoint,
} as const;

/** What a path is. Where it is nothing that can be read, reading it as data says why. */
async function kindOf(path: string): Promise<Kind> {
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory()) return (await isCheckpoint(path)) ? "checkpoint" : "run";
  if (stats === null || !stats.isFile()) return "data";
  // Safetensors: the length of the header in eight bytes, then JSON.
  const start = await firstBytes(path);
  const isModel = start.length === 9 && start[8] === 0x7b && start.readUInt32LE(4) === 0;
  return isModel ? "model" : "data";
}

/** The first nine bytes, fewer where there are no more or they cannot be read. */
async function firstBytes(path: string): Promise<Buffer> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return Buffer.alloc(0);
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
        blankLines === 0
          ? format
          : `${format}, ${counted(blankLines, "blank line or comment", "blank lines and comments")} skipped`,
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
      ["labelled", `${counted(s.labelEntries, "pair")}, ${row(s.labelsOfRows)}`],
      ["without labels", counted(s.rowsWithoutLabels, "row")],
      ["without features", counted(s.rowsWithoutFeatures, "row")],
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
