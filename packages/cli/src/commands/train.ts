import { basename, dirname, join } from "node:path";
import { availableMemory } from "node:process";
import { saveModel } from "@heterosgd/model/node";
import {
  createRunFolder,
  refuseOccupied,
  salvageOf,
  train as trainRows,
  type RunFolder,
  type TrainResult,
} from "@heterosgd/trainer";
import { decide, storedConfig, type DecidedConfig } from "../config/complete.js";
import { environmentLayer, fileLayer, flagLayer, resolveTraining } from "../config/resolve.js";
import { trainSchema, type TrainConfig } from "../config/schema.js";
import { readTrainingData } from "../data.js";
import { CliError, describeError, exitCodes, type ExitCode } from "../errors.js";
import { notesFor } from "../model-notes.js";
import { formatSeconds, parseDuration } from "../output/format.js";
import { showLive } from "../output/live.js";
import type { Output } from "../output/output.js";
import { checkEarly, checkMemory, planRun, type Plan } from "../plan.js";
import { watchSignals, type Interruption } from "../signals.js";
import { packageVersion } from "../version.js";
import { planDocument, planLines } from "./train-plan.js";
import { runDocument, runLines } from "./train-report.js";

export interface TrainFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly [key: string]: unknown;
}

/** `heterosgd train [FILE]` */
export async function trainCommand(
  file: string | undefined,
  flags: TrainFlags,
  output: Output,
): Promise<ExitCode> {
  const interruption = watchSignals((text) => output.warn(text));
  try {
    const config = await configure(file, flags);
    const decided = decide(config);
    checkEarly(decided);
    const folder = config.out ?? defaultFolder(decided, new Date());
    const dryRun = flags.dryRun === true;
    if (!dryRun && !config.force) await refuseOccupied(folder);

    output.say(config.sample ? "reading the bundled sample" : `reading ${config.train}`);
    const began = performance.now();
    const data = await readTrainingData(decided);
    output.detail(`read in ${formatSeconds((performance.now() - began) / 1000)}`);
    for (const notice of data.notices) output.say(`note: ${notice}`);
    const plan = planRun(decided, data);
    const available = availableMemory();
    const lines = planLines(plan, available);
    for (const line of lines) {
      if (dryRun) output.print(line);
      else output.say(line);
    }
    if (dryRun) output.document(planDocument(plan, available));
    checkMemory(plan, available);
    if (dryRun) return exitCodes.done;
    return await runInFolder(folder, plan, lines, interruption, output);
  } finally {
    interruption.stopWatching();
  }
}

async function configure(file: string | undefined, flags: TrainFlags): Promise<TrainConfig> {
  if (file !== undefined && flags["train"] !== undefined) {
    throw new CliError("CONFLICT", `training data is named twice: ${file} and --train`);
  }
  const fromFlags = flagLayer(trainSchema, file === undefined ? flags : { ...flags, train: file });
  const configFile = flags.config === undefined ? [] : [await fileLayer(trainSchema, flags.config)];
  return resolveTraining([fromFlags, ...configFile, environmentLayer(trainSchema, process.env)]);
}

/** `runs/20261130-142501-bibtex`, after the data. */
export function defaultFolder({ sample, train }: DecidedConfig, now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  const path = train ?? "";
  const stem = basename(path).replace(/\..*/, "");
  const name = sample
    ? "sample"
    : stem === "train"
      ? basename(dirname(path)).replace(/^\.$/, "")
      : stem;
  return join("runs", `${time}-${name || "run"}`);
}

async function runInFolder(
  path: string,
  plan: Plan,
  introduction: readonly string[],
  interruption: Interruption,
  output: Output,
): Promise<ExitCode> {
  const folder = await createRunFolder(path, { force: plan.config.force });
  await folder.json("config", storedConfig(plan.config));
  for (const line of introduction) folder.log(line);
  try {
    const result = await trainInFolder(folder, plan, interruption, output);
    const document = runDocument(folder, plan, result);
    const lines = runLines(folder, plan, result);
    await saveParameters(folder, plan, result.parameters);
    await folder.json("metrics", document);
    for (const { text } of lines) folder.log(text);
    await folder.close();
    for (const { text, style } of lines) output.print(text, style);
    output.document(document);
  } catch (error) {
    folder.log(`error: ${describeError(error)}`);
    await salvage(folder, plan, error, output);
    await folder.close().catch(() => undefined);
    throw error;
  }
  return interruption.exitCode() ?? exitCodes.done;
}

async function trainInFolder(
  folder: RunFolder,
  plan: Plan,
  interruption: Interruption,
  output: Output,
): Promise<TrainResult> {
  const { epochs, maxSteps, maxTime, evaluateEvery } = plan.config;
  const limits = {
    rows: plan.data.train.rows,
    epochs,
    maxSteps,
    maxSeconds: maxTime === null ? null : parseDuration(maxTime),
    evaluates: plan.data.evaluation !== null && evaluateEvery !== "never",
  };
  const view = showLive(output, limits, (text) => folder.log(text));
  interruption.saveFirst();
  try {
    return await trainRows({
      ...plan.options,
      signal: interruption.signal,
      onEvent(event) {
        folder.event(event);
        view.event(event);
      },
    });
  } finally {
    view.close();
  }
}

async function saveParameters(
  folder: RunFolder,
  { config, data, shape }: Plan,
  parameters: Float32Array,
): Promise<void> {
  await saveModel(folder.file("model"), {
    shape,
    parameters,
    ...(data.labelNames === null ? {} : { labelNames: data.labelNames }),
    info: notesFor(config, data, { heterosgd: packageVersion() }),
  });
}

/** Saves what a failed run had merged, if it had merged anything. */
async function salvage(
  folder: RunFolder,
  plan: Plan,
  error: unknown,
  output: Output,
): Promise<void> {
  const parameters = salvageOf(error)?.parameters;
  if (parameters === undefined || parameters === null) return;
  try {
    await saveParameters(folder, plan, parameters);
    output.warn(`the model as of the last merge was saved: ${folder.file("model")}`);
  } catch (secondError) {
    output.warn(`the model could not be saved either: ${describeError(secondError)}`);
  }
}
