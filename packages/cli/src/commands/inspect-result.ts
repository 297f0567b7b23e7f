/** What `heterosgd inspect` shows of what a run leaves: its model, its folder. */
import { join } from "node:path";
import { describeShape } from "@heterosgd/model";
import { loadModel } from "@heterosgd/model/node";
import { checkpointsFolder, listCheckpoints, runFiles, runOwner } from "@heterosgd/trainer";
import { defaultOf, optionsOf } from "../config/option-text.js";
import { trainSchema } from "../config/schema.js";
import { CliError } from "../errors.js";
import { notesOf } from "../model-notes.js";
import { counted, formatBytes, formatCount, printable, threeDigits } from "../output/format.js";
import type { Output } from "../output/output.js";
import { pairLines } from "../output/table.js";
import { readSmallFile } from "../small-file.js";
import { checkpointDocument, checkpointLines } from "./inspect-checkpoint.js";

type Members = Readonly<Record<string, unknown>>;
type Pair = readonly [name: string, value: string];

const NAMES_SHOWN = 3;

export async function inspectModel(path: string, _config: unknown, output: Output): Promise<void> {
  const { shape, layout, labelNames, info } = await loadModel(path);
  printPairs(output, [
    ["network", describeShape(shape)],
    ["parameters", `${formatCount(layout.parameterCount)}, ${formatBytes(layout.length * 4)}`],
    ["label names", namesWords(labelNames)],
    ...noteLines(info),
  ]);
  const config = parseObject(info["config"] ?? "");
  if (config !== null) {
    // The notes have said these two.
    const { indexBase: _base, labelValues: _values, ...rest } = config;
    printConfig(output, rest);
  }
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

function namesWords(names: readonly string[] | undefined): string {
  if (names === undefined) return "none";
  const more = names.length > NAMES_SHOWN ? " …" : "";
  const shown = names.slice(0, NAMES_SHOWN).map(printable).join(", ");
  return `${shown}${more} (${formatCount(names.length)})`;
}

/** Notes but for the configuration; the index base only where the data has one of its own. */
function noteLines(info: Readonly<Record<string, string>>): readonly Pair[] {
  const hidden = notesOf(info).format === "libsvm" ? ["config"] : ["config", "indexBase"];
  return Object.entries(info)
    .filter(([name]) => !hidden.includes(name))
    .map(([name, value]) => [printable(name), printable(value)]);
}

export async function inspectRun(path: string, _config: unknown, output: Output): Promise<void> {
  const config = await readObject(path, "config");
  if (config === null) {
    throw new CliError("NOT_A_RUN", `${path} is no folder of a run: it has no ${runFiles.config}`, {
      hint: "name a data file, a model file or a run's folder",
    });
  }
  const metrics = await readObject(path, "metrics");
  printConfig(output, config);
  output.print("");
  if (metrics === null) output.print(`not finished: there is no ${runFiles.metrics}`);
  else printPairs(output, resultLines(join(path, runFiles.model), metrics));
  const { checkpoints, unusable } = await listCheckpoints(join(path, checkpointsFolder));
  if (checkpoints.length + unusable.length > 0) output.print("");
  for (const line of checkpointLines(checkpoints)) output.print(line);
  for (const { error } of unusable) output.print(error.message);
  const owner = await runOwner(path);
  if (owner !== null) output.print(`under way: process ${owner.pid} on ${owner.host}`);
  output.document({
    kind: "run",
    path,
    config,
    metrics,
    checkpoints: checkpoints.map(checkpointDocument),
    running: owner !== null,
  });
}

function resultLines(model: string, metrics: Members): readonly Pair[] {
  const { reason, seconds, rows, evaluatedOn } = metrics;
  const values = isObject(metrics["metrics"]) ? metrics["metrics"] : {};
  const { rows: evaluated, rowsWithoutLabels, ...quality } = values;
  const known = (name: string, value: unknown, words: (value: number) => string): readonly Pair[] =>
    typeof value === "number" ? [[name, words(value)]] : [];
  return [
    ["model", model],
    ...(typeof reason === "string" ? [["ended because", printable(reason)] as const] : []),
    ...known("trained on", rows, (n) => counted(n, "row")),
    ...known("seconds", seconds, threeDigits),
    ...(typeof evaluatedOn === "string" ? [["evaluated on", printable(evaluatedOn)] as const] : []),
    ...known("rows of it", evaluated, formatCount),
    ...known("without labels", rowsWithoutLabels, formatCount),
    ...Object.entries(quality).flatMap(([name, value]) =>
      known(printable(name), value, (n) => n.toFixed(4)),
    ),
  ];
}

/** The options that are not at their defaults. */
function printConfig(output: Output, config: Members): void {
  output.print("config, where it is not the default:");
  const changed = optionsOf(trainSchema).flatMap(([key, type]): readonly Pair[] => {
    const text = JSON.stringify(config[key]);
    const isDefault = text === undefined || text === JSON.stringify(defaultOf(type));
    return isDefault ? [] : [[`  ${key}`, printable(text)]];
  });
  printPairs(output, changed);
}

function printPairs(output: Output, pairs: readonly Pair[]): void {
  for (const line of pairLines(pairs)) output.print(line);
}

/**
 * A file of a run's folder, null if it is not there. @throws CliError NOT_A_RUN if it is damaged.
 */
async function readObject(folder: string, name: "config" | "metrics"): Promise<Members | null> {
  const path = join(folder, runFiles[name]);
  let text: string;
  try {
    text = await readSmallFile(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError("NOT_A_RUN", `${path} cannot be read: ${message}`, { cause });
  }
  const object = parseObject(text);
  if (object !== null) return object;
  throw new CliError("NOT_A_RUN", `${path} is damaged: it holds no JSON object`);
}

function parseObject(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
