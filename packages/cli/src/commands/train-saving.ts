/** What is written at the end of a run, however it ends. */
import { copyFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { saveModel } from "@heterosgd/model/node";
import {
  latestCheckpoint,
  runFiles,
  salvageOf,
  TrainerError,
  type Checkpoint,
  type RunEvent,
  type RunFolder,
  type TrainResult,
} from "@heterosgd/trainer";
import { CliError, describeError } from "../errors.js";
import { commandWords, quoted, shortPath, workingFolder } from "../invocation.js";
import { notesFor } from "../model-notes.js";
import type { Line, Output } from "../output/output.js";
import type { Plan } from "../plan.js";
import { packageVersion } from "../version.js";

/** What is known of a run's checkpoints. */
export interface SavedState {
  /** The newest one's name, null where there is none. */
  readonly newest: string | null;
  /** Why the last one could not be written; null where it could. */
  readonly failure: string | null;
}

/** Keeps what the events say of checkpoints. */
export function createSavedState(newest: string | null): {
  event(event: RunEvent): void;
  state(): SavedState;
} {
  let state: SavedState = { newest, failure: null };
  return {
    event(event) {
      if (event.type === "saved") state = { newest: event.checkpoint, failure: null };
      if (event.type === "not-saved") state = { ...state, failure: event.reason };
    },
    state: () => state,
  };
}

export interface Ended {
  readonly folder: RunFolder;
  readonly plan: Plan;
  readonly output: Output;
}

/**
 * Writes all that is left of a run to write, as much of it as can be.
 *
 * @throws CliError RUN_NOT_SAVED
 */
export async function keep(
  { folder, plan, output }: Ended,
  { parameters }: TrainResult,
  saved: SavedState,
  document: unknown,
  lines: readonly Line[],
): Promise<void> {
  for (const { text } of lines) folder.log(text);
  const works = [
    [runFiles.model, () => saveParameters({ folder, plan, output }, parameters)],
    ...(saved.failure === null
      ? []
      : [["the last checkpoint", () => notSaved(saved.failure)] as const]),
    [runFiles.metrics, () => folder.metrics(document)],
    [`${runFiles.events} and ${runFiles.log}`, () => folder.close()],
  ] as const;
  const kept: string[] = [];
  const failures: { readonly what: string; readonly error: unknown }[] = [];
  for (const [what, work] of works) {
    try {
      await work();
      kept.push(what);
    } catch (error) {
      folder.log(`error: ${describeError(error)}`);
      failures.push({ what, error });
    }
  }
  const [first] = failures;
  if (first === undefined) return folder.replace();
  const lost = failures.map(({ what }) => what).join(", ");
  throw new CliError(
    "RUN_NOT_SAVED",
    `the run has ended, but could not be saved whole in ${folder.draftPath}: saved ${kept.join(", ") || "nothing of it"}; ` +
      `not saved ${lost}: ${describeError(first.error)}`,
    { cause: first.error },
  );
}

function notSaved(reason: string | null): Promise<never> {
  return Promise.reject(new TrainerError("CHECKPOINT_WRITE", reason ?? ""));
}

/**
 * Saves the model into the folder; where that fails, among the temporary files, as it may have
 * taken days.
 */
async function saveParameters(
  { folder, plan: { config, data, shape }, output }: Ended,
  parameters: Float32Array,
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

/**
 * Saves the last finite model of a failed run, if there is one, and says how to go on.
 *
 * @returns the error that the run ends in.
 */
export async function salvage(ended: Ended, error: unknown): Promise<unknown> {
  const { folder, output } = ended;
  const checkpoint = await latestCheckpoint(folder.checkpoints).catch(() => null);
  const parameters = salvageOf(error)?.parameters ?? null;
  try {
    if (parameters !== null) {
      await saveParameters(ended, parameters);
      output.warn(`the model as of the last merge was saved: ${folder.draft("model")}`);
    } else if (checkpoint !== null) {
      await copyFile(checkpoint.modelFile, folder.draft("model"));
      const name = basename(checkpoint.path);
      output.warn(`the model of the checkpoint ${name} was saved: ${folder.draft("model")}`);
    }
  } catch (secondError) {
    output.warn(`the model could not be saved in the run's folder: ${describeError(secondError)}`);
  }
  return checkpoint === null ? error : withWayOn(error, checkpoint, ended);
}

/** The error with how to go on after it. */
function withWayOn(error: unknown, { path }: Checkpoint, { folder, plan }: Ended): unknown {
  if (!(error instanceof TrainerError)) return error;
  const words = resumeCommand(folder.draftPath, plan.simulation === null ? "train" : "simulate");
  const from = basename(path);
  if (error.code === "DIVERGED") {
    const rate = Number((plan.config.learningRate / 2).toPrecision(3));
    const message = `${error.message}: ${words} --learning-rate ${rate} goes on from ${from}`;
    return new TrainerError(error.code, message, { cause: error.cause ?? error });
  }
  if (error.code !== "NO_DEVICES") return error;
  const message = `${error.message}; ${words} goes on from ${from}`;
  return new TrainerError(error.code, message, { cause: error.cause ?? error });
}

/** The command that goes on with a run, to be copied. */
export function resumeCommand(folder: string, verb: "train" | "simulate" = "train"): string {
  return commandWords([verb, "--resume", quoted(shortPath(folder, workingFolder()))]);
}

/** Free bytes where a folder is or is to be, null where nobody can tell. */
export async function freeDisk(folder: string): Promise<number | null> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const found = await statfs(path).catch(() => null);
    if (found !== null) return found.bavail * found.bsize;
    if (dirname(path) === path) return null;
  }
}
