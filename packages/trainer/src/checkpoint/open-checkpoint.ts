/** Reading: nothing is believed before all sums match, and no path is made of what a file says. */
import { lstat, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { optimizerStateArrays, parameterLayout } from "@heterosgd/model";
import { loadModel } from "@heterosgd/model/node";
import type { ModelName } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";
import { codeOf } from "../run/make-folders.js";
import { arraysLayout, readArrays, type ArraysLayout } from "./arrays-file.js";
import { sumOfFile } from "./fingerprint.js";
import {
  doneFile,
  MOST_MANIFEST_BYTES,
  parseManifest,
  type FileSum,
  type Manifest,
} from "./manifest.js";
import { arrayOf, arraysOf, byFile, type ArrayName, type ModelArrays } from "./model-names.js";
import { checkRecord, type CheckpointRecord } from "./record.js";
import { parseSafeJson } from "./safe-json.js";
import { parseFolderName } from "./step-folders.js";

/** A policy's state is small; so much is not looked at. */
const MOST_RECORD_BYTES = 2 ** 25;

/** A checkpoint of which every file is as it was written. */
export interface Checkpoint {
  readonly path: string;
  /** Its model file, which is like any other. */
  readonly modelFile: string;
  readonly record: CheckpointRecord;
  /** Of all its files. */
  readonly bytes: number;
  /**
   * Fills a model's arrays, as long as the record's shape says.
   *
   * @throws TrainerError CHECKPOINT_FORMAT, CHECKPOINT_DAMAGED, CHECKPOINT_UNREADABLE; RangeError if it
   * has no such model.
   */
  load(name: ModelName, into: ModelArrays): Promise<void>;
}

/** What can be said of a checkpoint without reading its models. */
export interface CheckpointSummary {
  readonly path: string;
  readonly record: CheckpointRecord;
  /** Of all its files. */
  readonly bytes: number;
}

/**
 * Opens a checkpoint and reads all of it once, to see that it is whole.
 *
 * @param path - its folder `step-N`.
 * @throws TrainerError CHECKPOINT_DAMAGED (not complete, or not as it was written),
 * CHECKPOINT_FORMAT (of another version, or of no checkpoint), CHECKPOINT_UNREADABLE.
 */
export async function openCheckpoint(path: string): Promise<Checkpoint> {
  return named(path, async () => {
    const manifest = await readManifest(path);
    for (const file of manifest.files) await requireSum(path, file);
    const record = await readRecord(path, manifest);
    const modelFile = join(path, "model.safetensors");
    const layouts = requireSizes(manifest, record);
    return {
      path,
      modelFile,
      record,
      bytes: sizeOf(manifest),
      load: (name, into) => named(path, () => load(path, record, layouts, name, into)),
    };
  });
}

/**
 * Looks at a checkpoint: that its files are there in their sizes, and what its record says.
 *
 * @throws TrainerError as `openCheckpoint` does
 */
export async function summarizeCheckpoint(path: string): Promise<CheckpointSummary> {
  return named(path, async () => {
    const manifest = await readManifest(path);
    await requireSum(path, manifest.files[0]!);
    for (const file of manifest.files) await requireSize(path, file);
    const record = await readRecord(path, manifest);
    requireSizes(manifest, record);
    return { path, record, bytes: sizeOf(manifest) };
  });
}

async function readManifest(path: string): Promise<Manifest> {
  const file = join(path, doneFile);
  const size = await fileSize(file).catch((error: unknown) => {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    throw damaged(`it has no ${doneFile}: its writing was not completed`);
  });
  if (size > MOST_MANIFEST_BYTES) {
    throw new TrainerError("CHECKPOINT_FORMAT", `${doneFile} has ${size} bytes, which is too many`);
  }
  const manifest = parseManifest(await readFile(file));
  const step = parseFolderName(basename(resolve(path)))?.step;
  if (step !== undefined && step !== manifest.step) {
    throw damaged(`${doneFile} is that of step ${manifest.step}`);
  }
  return manifest;
}

async function requireSize(path: string, { name, bytes }: FileSum): Promise<void> {
  const size = await fileSize(join(path, name)).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") throw damaged(`${name} is missing`);
    throw error;
  });
  if (size !== bytes) throw damaged(`${name} has ${size} bytes, ${bytes} were written`);
}

async function requireSum(path: string, file: FileSum): Promise<void> {
  await requireSize(path, file);
  const { bytes, sha256 } = await sumOfFile(join(path, file.name));
  if (bytes === file.bytes && sha256 === file.sha256) return;
  throw damaged(`${file.name} is not as it was written: its sum differs`);
}

async function readRecord(path: string, { step, files }: Manifest): Promise<CheckpointRecord> {
  const [state] = files;
  if (state === undefined || state.bytes > MOST_RECORD_BYTES) {
    throw new TrainerError(
      "CHECKPOINT_FORMAT",
      "state.json has more bytes than any that is written",
    );
  }
  const record = checkRecord(parseSafeJson(await readFile(join(path, state.name)), state.name));
  if (record.step === step) return record;
  throw damaged(`state.json is that of step ${record.step}, ${doneFile} that of ${step}`);
}

type ArrayFile = keyof ReturnType<typeof byFile>;

/** Refuses files that cannot hold what the record says, before anything of that size is taken. */
function requireSizes(
  { files }: Manifest,
  { models, optimizer, shape }: CheckpointRecord,
): Readonly<Record<ArrayFile, ArraysLayout>> {
  const { length, parameterCount } = parameterLayout(shape);
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const names = models.map(({ name }) => name);
  const arrays = byFile(arraysOf(names, optimizerStateArrays(optimizer)));
  const layoutOf = (file: ArrayFile) => {
    const layout = arraysLayout(arrays[file], length);
    const expected = arrays[file].length === 0 ? undefined : layout.bytes;
    if (sizes.get(file) === expected) return layout;
    throw new TrainerError(
      "CHECKPOINT_FORMAT",
      `${file} has ${sizes.get(file) ?? 0} bytes, but state.json describes ${expected ?? 0}`,
    );
  };
  if (sizes.get("model.safetensors")! < parameterCount * Float32Array.BYTES_PER_ELEMENT) {
    throw new TrainerError(
      "CHECKPOINT_FORMAT",
      `model.safetensors is too small for the ${parameterCount} parameters that state.json describes`,
    );
  }
  return {
    "optimizer.safetensors": layoutOf("optimizer.safetensors"),
    "devices.safetensors": layoutOf("devices.safetensors"),
  };
}

async function load(
  path: string,
  { models, shape }: CheckpointRecord,
  layouts: Readonly<Record<ArrayFile, ArraysLayout>>,
  name: ModelName,
  into: ModelArrays,
): Promise<void> {
  if (!models.some((model) => model.name === name)) {
    throw new RangeError(`the checkpoint ${path} has no model ${name}`);
  }
  const { length } = parameterLayout(shape);
  for (const array of [into.parameters, ...into.state]) {
    if (array.length !== length) throw new RangeError(`its arrays have ${length} elements`);
  }
  for (const file of ["optimizer.safetensors", "devices.safetensors"] as const) {
    const own = layouts[file].names.filter(({ model }) => model === name);
    const targets = own.map((array): [ArrayName, Float32Array] => [
      array,
      arrayOf(into, array.state),
    ]);
    if (own.length > 0) await readArrays(join(path, file), layouts[file], new Map(targets));
  }
  if (name === "global") await loadGlobal(join(path, "model.safetensors"), length, into.parameters);
}

async function loadGlobal(file: string, length: number, into: Float32Array): Promise<void> {
  into.fill(0);
  await loadModel(file, {
    allocate(needed) {
      if (needed === length) return into;
      throw new TrainerError(
        "CHECKPOINT_FORMAT",
        `model.safetensors has ${needed} elements, but state.json describes ${length}`,
      );
    },
  });
}

async function fileSize(path: string): Promise<number> {
  const status = await lstat(path);
  if (!status.isFile()) throw damaged(`${basename(path)} is not a file`);
  return status.size;
}

function sizeOf(manifest: Manifest): number {
  return manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function damaged(what: string): TrainerError {
  return new TrainerError("CHECKPOINT_DAMAGED", what);
}

/** Has errors say which checkpoint they are about. */
async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    const name = join(basename(dirname(resolve(path))), basename(path));
    const say = (what: string) => `the checkpoint ${name} can't be used: ${what}`;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof TrainerError) {
      throw new TrainerError(error.code, say(message), { cause: error.cause });
    }
    const isModel = error instanceof Error && error.name === "ModelError";
    throw new TrainerError(isModel ? "CHECKPOINT_FORMAT" : "CHECKPOINT_UNREADABLE", say(message), {
      cause: error,
    });
  }
}
