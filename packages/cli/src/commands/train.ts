import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { availableMemory } from "node:process";
import { saveModel } from "@heterosgd/model/node";
import {
  checkRunFolder,
  createRunFolder,
  runFiles,
  salvageOf,
  simulate,
  train as trainRows,
  type Profile,
  type RunEvent,
  type RunFolder,
  type TrainResult,
} from "@heterosgd/trainer";
import { decide, storedConfig, type DecidedConfig } from "../config/complete.js";
import { defaultProfile } from "../config/default-profile.js";
import { environmentLayer, fileLayer, flagLayer, resolveTraining } from "../config/resolve.js";
import { trainSchema, type TrainConfig } from "../config/schema.js";
import { readTrainingData } from "../data.js";
import { CliError, describeError, exitCodes, type ExitCode } from "../errors.js";
import { notesFor } from "../model-notes.js";
import { formatSeconds, parseDuration } from "../output/format.js";
import { showLive } from "../output/live.js";
import type { Line, Output } from "../output/output.js";
import { checkEarly, checkMemory, planRun, type Plan } from "../plan.js";
import { readProfile } from "../profile.js";
import { watchSignals, type Interruption } from "../signals.js";
import { packageVersion } from "../version.js";
import { planDocument, planLines } from "./train-plan.js";
import { runDocument, runLines } from "./train-report.js";

export interface TrainFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly [key: string]: unknown;
}

/** `heterosgd train [FILE]`, `heterosgd simulate [FILE]` */
export async function trainCommand(
  verb: "train" | "simulate",
  file: string | undefined,
  flags: TrainFlags,
  output: Output,
): Promise<ExitCode> {
  const interruption = watchSignals((text) => output.warn(text));
  try {
    const config = await configure(file, flags);
    const decided = decide(config);
    const profile = await profileFor(verb, decided);
    checkEarly(decided, profile);
    const suffix = profile === null ? "" : "-simulated";
    const folder = config.out ?? `${defaultFolder(decided, new Date())}${suffix}`;
    const dryRun = flags.dryRun === true;
    const folderOptions = {
      force: config.force,
      inputs: [config.train, config.test, config.labelNames].filter((input) => input !== null),
      unique: config.out === null,
    };
    await checkRunFolder(folder, folderOptions);

    output.say(config.sample ? "reading the bundled sample" : `reading ${config.train}`);
    const began = performance.now();
    const data = await readTrainingData(decided);
    output.detail(`read in ${formatSeconds((performance.now() - began) / 1000)}`);
    for (const notice of data.notices) output.say(`note: ${notice}`);
    const plan = planRun(decided, data, profile);
    const available = availableMemory();
    const lines = planLines(plan, available);
    for (const line of lines) {
      if (dryRun) output.print(line);
      else output.say(line);
    }
    checkMemory(plan, available);
    if (dryRun) {
      output.document(planDocument(plan, available));
      return exitCodes.done;
    }
    const run = await createRunFolder(folder, storedConfig(plan.config), {
      ...folderOptions,
      onFailure: ({ message }) =>
        output.warn(`${message}; training goes on without ${runFiles.events} and ${runFiles.log}`),
    });
    return await runInFolder(run, plan, lines, interruption, output);
  } finally {
    interruption.stopWatching();
  }
}

/** What `simulate` takes its times from. */
async function profileFor(
  verb: "train" | "simulate",
  { profile, algorithm, countEvaluation }: DecidedConfig,
): Promise<Profile | null> {
  if (verb === "simulate") return readProfile(profile ?? defaultProfile(algorithm));
  if (profile === null && !countEvaluation) return null;
  throw new CliError("CONFLICT", "a profile of simulated devices is set, but this is a real run", {
    hint: "heterosgd simulate takes it; unset it (null in the file) to train on real devices",
  });
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
  folder: RunFolder,
  plan: Plan,
  introduction: readonly string[],
  interruption: Interruption,
  output: Output,
): Promise<ExitCode> {
  for (const line of introduction) folder.log(line);
  try {
    const result = await trainInFolder(folder, plan, interruption, output);
    const document = runDocument(folder, plan, result);
    const lines = runLines(folder, plan, result);
    await keep(folder, plan, result, document, lines, output);
    for (const { text, style } of lines) output.print(text, style);
    output.document(document);
  } catch (error) {
    folder.log(`error: ${describeError(error)}`);
    await salvage(folder, plan, error, output);
    await folder.close().catch(() => undefined);
    if (folder.draftPath !== folder.path) {
      output.warn(
        `the earlier run in ${folder.path} was not replaced; what this one left is in ${folder.draftPath}`,
      );
    }
    throw error;
  }
  return interruption.exitCode() ?? exitCodes.done;
}

/**
 * Writes all that is left of a run to write, as much of it as can be.
 *
 * @throws CliError RUN_NOT_SAVED
 */
async function keep(
  folder: RunFolder,
  plan: Plan,
  { parameters }: TrainResult,
  document: unknown,
  lines: readonly Line[],
  output: Output,
): Promise<void> {
  for (const { text } of lines) folder.log(text);
  const works = [
    [runFiles.model, () => saveParameters(folder, plan, parameters, output)],
    [runFiles.metrics, () => folder.metrics(document)],
    [`${runFiles.events} and ${runFiles.log}`, () => folder.close()],
  ] as const;
  const saved: string[] = [];
  const failures: { readonly what: string; readonly error: unknown }[] = [];
  for (const [what, work] of works) {
    try {
      await work();
      saved.push(what);
    } catch (error) {
      folder.log(`error: ${describeError(error)}`);
      failures.push({ what, error });
    }
  }
  const [first] = failures;
  if (first === undefined) return folder.replace();
  const lost = failures.map(({ what }) => what).join(", ");
  const kept = saved.length === 0 ? "nothing of it" : saved.join(", ");
  throw new CliError(
    "RUN_NOT_SAVED",
    `the run has ended, but could not be saved whole in ${folder.draftPath}: saved ${kept}; not saved ${lost}: ` +
      describeError(first.error),
    { cause: first.error },
  );
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
    isSimulated: plan.simulation !== null,
  };
  const view = showLive(output, limits, (text) => folder.log(text));
  interruption.saveFirst();
  try {
    const options = {
      ...plan.options,
      signal: interruption.signal,
      onEvent(event: RunEvent) {
        folder.event(event);
        view.event(event);
      },
    };
    if (plan.simulation === null) return await trainRows(options);
    const { countEvaluation } = plan.config;
    return await simulate({ ...options, ...plan.simulation, countEvaluation });
  } finally {
    view.close();
  }
}

/**
 * Saves the model into the folder; where that fails, among the temporary files, as it may have
 * taken days.
 */
async function saveParameters(
  folder: RunFolder,
  { config, data, shape }: Plan,
  parameters: Float32Array,
  output: Output,
): Promise<void> {
  const model = {
    shape,
    parameters,
    ...(data.labelNames === null ? {} : { labelNames: data.labelNames }),
    info: notesFor(config, data, { heterosgd: packageVersion() }),
  };
  try {
    await saveModel(folder.draft("model"), model);
  } catch (error) {
    const elsewhere = join(tmpdir(), `heterosgd-${process.pid}-${runFiles.model}`);
    await saveModel(elsewhere, model).then(
      () => output.warn(`the model was saved elsewhere: ${elsewhere}`),
      () => output.warn(`the model could not be saved elsewhere either: ${elsewhere}`),
    );
    throw error;
  }
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
    await saveParameters(folder, plan, parameters, output);
    output.warn(`the model as of the last merge was saved: ${folder.draft("model")}`);
  } catch (secondError) {
    output.warn(`the model could not be saved in the run's folder: ${describeError(secondError)}`);
  }
}
