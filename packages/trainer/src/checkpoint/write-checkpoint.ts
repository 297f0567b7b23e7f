/**
 * A checkpoint is written where nobody looks, flushed, moved into place, and becomes one by its last
 * file, `DONE`. Whatever happens meanwhile, those before it stay as they are.
 */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { optimizerStateArrays, parameterLayout } from "@heterosgd/model";
import { saveModel, syncFolder } from "@heterosgd/model/node";
import type { ModelName } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";
import { allFinite } from "../run/finite.js";
import { makeFolders, reasonOf } from "../run/make-folders.js";
import { writeWhole } from "../run/write-whole.js";
import { arraysLayout, writeArrays } from "./arrays-file.js";
import { sumOfFile } from "./fingerprint.js";
import { checkpointFiles, doneFile, formatManifest, type FileSum } from "./manifest.js";
import { arrayOf, arraysOf, byFile, type ModelArrays } from "./model-names.js";
import { checkRecord, type CheckpointRecord } from "./record.js";
import { folderName, namesIn, stepFolders, temporaryName } from "./step-folders.js";

export interface CheckpointContents {
  readonly record: CheckpointRecord;
  /** The arrays of the record's models, in its order, as long as `parameterLayout(shape)` says. */
  readonly models: readonly ModelArrays[];
  /** Of the model file, which is like any other. */
  readonly labelNames?: readonly string[] | undefined;
  readonly info?: Readonly<Record<string, string>> | undefined;
}

export interface WrittenCheckpoint {
  readonly path: string;
  readonly step: number;
  /** Of all its files. */
  readonly bytes: number;
}

/**
 * Writes a checkpoint into `folder`, which is made if it is missing, and does not return before it is
 * on the disk. Of several at one step all are kept.
 *
 * @throws TrainerError CHECKPOINT_WRITE, with the reason; nothing of it is left then.
 */
export async function writeCheckpoint(
  folder: string,
  contents: CheckpointContents,
): Promise<WrittenCheckpoint> {
  const { step } = contents.record;
  const temporary = join(folder, temporaryName(step));
  try {
    await makeFolders(folder, []);
    await mkdir(temporary);
    const files = await writeFiles(temporary, contents);
    await syncFolder(temporary);
    const path = await moveIntoPlace(folder, temporary, step);
    await syncFolder(folder);
    const bytes = await writeDone(path, formatManifest({ step, files }));
    return { path, step, bytes: files.reduce((sum, file) => sum + file.bytes, bytes) };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw writeFailure(folder, error);
  }
}

async function writeFiles(
  folder: string,
  { record, models, labelNames, info = {} }: CheckpointContents,
): Promise<readonly FileSum[]> {
  const { shape } = record;
  const layout = parameterLayout(shape);
  const byName = new Map<ModelName, ModelArrays>(
    record.models.map(({ name }, i) => [name, models[i]!]),
  );
  const names = [...byName.keys()];
  const { parameters } = byName.get("global")!;
  if (![...byName.values()].every(isFinite)) {
    throw new Error("the model holds values that are not finite");
  }
  await writeFile(join(folder, "state.json"), recordText(record), { flush: true });
  await saveModel(join(folder, "model.safetensors"), {
    shape,
    parameters,
    info,
    ...(labelNames === undefined ? {} : { labelNames }),
  });
  const arrays = byFile(arraysOf(names, optimizerStateArrays(record.optimizer)));
  for (const name of ["optimizer.safetensors", "devices.safetensors"] as const) {
    if (arrays[name].length === 0) continue;
    await writeArrays(
      join(folder, name),
      arraysLayout(arrays[name], layout.length),
      ({ model, state }) => arrayOf(byName.get(model)!, state),
    );
  }
  const written = await namesIn(folder);
  const files: FileSum[] = [];
  for (const name of checkpointFiles) {
    if (written.includes(name)) files.push({ name, ...(await sumOfFile(join(folder, name))) });
  }
  return files;
}

function isFinite({ parameters, state }: ModelArrays): boolean {
  return [parameters, ...state].every(allFinite);
}

/** The record's text, of which is known that it can be read again. */
function recordText(record: CheckpointRecord): string {
  const text = JSON.stringify(record);
  checkRecord(JSON.parse(text));
  return `${text}\n`;
}

async function moveIntoPlace(folder: string, temporary: string, step: number): Promise<string> {
  const turns = (await stepFolders(folder)).filter((other) => other.step === step);
  const turn = 1 + Math.max(0, ...turns.map((other) => other.turn));
  const path = join(folder, folderName({ step, turn }));
  await rename(temporary, path);
  return path;
}

async function writeDone(path: string, manifest: Uint8Array): Promise<number> {
  try {
    await writeWhole(join(path, doneFile), manifest);
    await syncFolder(path);
    return manifest.length;
  } catch (error) {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

function writeFailure(folder: string, error: unknown): TrainerError {
  // A model file's error has the system's as its cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new TrainerError(
    "CHECKPOINT_WRITE",
    `no checkpoint could be written in ${folder}: ${reasonOf(cause)}`,
    { cause: error },
  );
}
