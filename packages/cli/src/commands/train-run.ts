/** A run from the moment at which it has a folder until all of it is written. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  devicesFile,
  simulate,
  train,
  type Checkpoint,
  type RunEvent,
  type RunFolder,
  type TrainOptions,
  type TrainResult,
} from "@heterosgd/trainer";
import { watchDeviceList } from "../device-list.js";
import { describeError, exitCodes, type ExitCode } from "../errors.js";
import { notesFor } from "../model-notes.js";
import { parseDuration } from "../output/format.js";
import { showLive, type LiveView } from "../output/live.js";
import type { Output } from "../output/output.js";
import type { Plan } from "../plan.js";
import type { Interruption } from "../signals.js";
import { recordForTensorboard, tensorboardPath } from "../tensorboard/tensorboard.js";
import { packageVersion } from "../version.js";
import { runDocument, runLines } from "./train-report.js";
import { createSavedState, keep, salvage } from "./train-saving.js";

/**
 * @param checkpoint - what the run goes on from, null to start it.
 * @param onEvent - told what happens besides those who write it down.
 */
export async function runInFolder(
  folder: RunFolder,
  plan: Plan,
  checkpoint: Checkpoint | null,
  introduction: readonly string[],
  interruption: Interruption,
  output: Output,
  onEvent?: (event: RunEvent) => void,
): Promise<ExitCode> {
  const ended = { folder, plan, output };
  const saved = createSavedState(checkpoint === null ? null : basename(checkpoint.path));
  for (const line of introduction) folder.log(line);
  let result: TrainResult | undefined;
  try {
    const tell = (event: RunEvent) => {
      saved.event(event);
      onEvent?.(event);
    };
    const run = { folder, plan, checkpoint, onEvent: tell };
    result = await trainInFolder(run, interruption, output);
    const document = runDocument(folder, plan, result, saved.state());
    const lines = runLines(folder, plan, result, saved.state());
    await keep(ended, result, saved.state(), document, lines);
    for (const { text, style } of lines) output.print(text, style);
    output.document(document);
  } catch (error) {
    folder.log(`error: ${describeError(error)}`);
    // A run that has ended well has its own model, which nothing older may replace.
    const last = result === undefined ? await salvage(ended, error) : error;
    await folder.close().catch(() => undefined);
    if (folder.draftPath !== folder.path) {
      output.warn(
        `the earlier run in ${folder.path} was not replaced; what this one left is in ${folder.draftPath}`,
      );
    }
    throw last;
  }
  return interruption.exitCode() ?? exitCodes.done;
}

interface RunningIn {
  readonly folder: RunFolder;
  readonly plan: Plan;
  readonly checkpoint: Checkpoint | null;
  readonly onEvent: (event: RunEvent) => void;
}

async function trainInFolder(
  { folder, plan, checkpoint, onEvent }: RunningIn,
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
  const warn = (text: string) => {
    folder.log(text);
    output.warn(text);
  };
  const curves = tensorboardPath(plan.config.tensorboard, folder);
  const tensorboard = curves === null ? null : recordForTensorboard(curves, warn);
  const view = showLive(output, limits, (text) => folder.log(text));
  try {
    const record = (event: RunEvent) => {
      folder.event(event);
      onEvent(event);
      view.event(event);
      tensorboard?.event(event);
    };
    const options = {
      ...plan.options,
      ...checkpointOptions(folder, plan),
      ...(checkpoint === null ? {} : { resume: checkpoint }),
      signal: interruption.signal,
      onEvent: record,
    };
    if (plan.simulation === null) {
      return await trainOnDevices(folder, options, interruption, view, output);
    }
    const { countEvaluation } = plan.config;
    return await simulate({ ...options, ...plan.simulation, countEvaluation });
  } finally {
    view.close();
    await tensorboard?.close();
  }
}

/** Trains on real devices, to which others may be added meanwhile. */
async function trainOnDevices(
  folder: RunFolder,
  options: TrainOptions,
  interruption: Interruption,
  view: LiveView,
  output: Output,
): Promise<TrainResult> {
  // Those that were added to an earlier part of the run are among its devices by now.
  await rm(join(folder.draftPath, devicesFile), { force: true });
  const list = watchDeviceList({
    folder: folder.draftPath,
    devices: options.devices,
    warn: (text) => output.warn(text),
    onFailed: (spec, reason) =>
      options.onEvent?.({ at: view.seconds(), type: "add-failed", spec, reason }),
  });
  interruption.onHangup(() => list.look());
  try {
    await folder.lock.listen();
    return await train({ ...options, onReady: (control) => list.ready(control) });
  } finally {
    list.stop();
  }
}

function checkpointOptions(
  folder: RunFolder,
  { checkpoints, config, data }: Plan,
): Pick<TrainOptions, "checkpoints"> {
  if (checkpoints === null) return {};
  const { everySeconds, keep: kept, configuration } = checkpoints;
  const program = `heterosgd ${packageVersion()}`;
  return {
    checkpoints: {
      folder: folder.checkpoints,
      keep: kept,
      ...(everySeconds === null ? {} : { everySeconds }),
      ...(data.labelNames === null ? {} : { labelNames: data.labelNames }),
      info: notesFor(config, data, { heterosgd: packageVersion() }),
      program,
      configuration,
      position: () => folder.position(),
    },
  };
}
