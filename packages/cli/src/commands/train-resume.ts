/** Going on with an earlier run: which one it is, where it stands, and whether anything is left to do. */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  checkpointsFolder,
  checkResumable,
  formatDevice,
  hasWorkLeft,
  isHalfMade,
  latestCheckpoint,
  openCheckpoint,
  runFiles,
  sweepCheckpoints,
  TrainerError,
  type Checkpoint,
  type TrainOptions,
} from "@heterosgd/trainer";
import { fileLayer, type Layer } from "../config/resolve.js";
import { trainSchema } from "../config/schema.js";
import { parseDeviceList, readDeviceList } from "../device-list.js";
import { CliError } from "../errors.js";
import { startOf } from "../run-start.js";

/** A run that is to go on. */
export interface EarlierRun {
  readonly folder: string;
  /** Its configuration, with the devices that were added to it. */
  readonly stored: Layer;
  /** The checkpoint that was named, null for the newest. */
  readonly named: string | null;
}

/** What a resumed run goes on from. */
export interface Resumed extends EarlierRun {
  /** Null where there is none yet: the run is started anew. */
  readonly checkpoint: Checkpoint | null;
}

/**
 * The run that a path names: its folder, or one of its checkpoints. Null where none lies there yet.
 *
 * @throws CliError NOT_A_RUN, CONFIG_FORMAT, UNKNOWN_KEY
 */
export async function findRun(path: string): Promise<EarlierRun | null> {
  const isCheckpoint = /^step-\d/.test(basename(path)) && isIn(path, checkpointsFolder);
  const folder = isCheckpoint ? dirname(dirname(resolve(path))) : path;
  const names = await namesIn(folder);
  if (!isCheckpoint && (names.length === 0 || (await isHalfMade(folder)))) return null;
  if (!names.includes(runFiles.config)) {
    throw new CliError(
      "NOT_A_RUN",
      `${folder} is no folder of a run: it has no ${runFiles.config}`,
      {
        hint: "a run is started in a new folder, or an empty one",
      },
    );
  }
  const layer = await fileLayer(trainSchema, join(folder, runFiles.config));
  const list = readDeviceList(folder);
  const devices = list === null ? null : parseDeviceList(list, folder).map(formatDevice).join(",");
  const stored = devices === null ? layer : { ...layer, values: { ...layer.values, devices } };
  return { folder, stored, named: isCheckpoint ? path : null };
}

function isIn(path: string, name: string): boolean {
  return basename(dirname(resolve(path))) === name;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    const why = code === "ENOTDIR" ? "it is a file" : message;
    throw new CliError("NOT_A_RUN", `${folder} is no folder of a run: ${why}`, { cause });
  }
}

/**
 * Opens the checkpoint that a run goes on from. To be called by whoever is at work in its folder.
 *
 * @param verb - what is to go on with it.
 * @param sweeps - whether leftovers of checkpoints are to be removed.
 * @throws CliError CONFLICT for a simulated run on real devices, or a real one in the simulator; what
 * opening a checkpoint throws.
 */
export async function openEarlier(
  run: EarlierRun,
  verb: "train" | "simulate",
  sweeps: boolean,
  warn: (text: string) => void,
): Promise<Resumed> {
  const folder = join(run.folder, checkpointsFolder);
  if (sweeps) await sweepCheckpoints(folder);
  const checkpoint =
    run.named === null ? await newest(folder, warn) : await openCheckpoint(run.named);
  const isSimulated =
    checkpoint === null
      ? (await startOf(run.folder))?.isSimulated
      : checkpoint.record.executor !== null;
  if (isSimulated !== undefined && isSimulated !== (verb === "simulate")) {
    const [is, other] = isSimulated ? ["a simulated", "simulate"] : ["a real", "train"];
    throw new CliError("CONFLICT", `the run in ${run.folder} is ${is} one`, {
      hint: `heterosgd ${other} --resume goes on with it`,
    });
  }
  return { ...run, checkpoint };
}

/** Null where there are none. */
async function newest(folder: string, warn: (text: string) => void): Promise<Checkpoint | null> {
  let unusable = 0;
  try {
    return await latestCheckpoint(folder, ({ error }) => {
      unusable++;
      warn(`${error.message}; the one before is taken`);
    });
  } catch (error) {
    const isNone = error instanceof TrainerError && error.code === "NO_CHECKPOINT";
    // Damaged ones stay for somebody to look at.
    if (!isNone || unusable > 0) throw error;
    return null;
  }
}

/**
 * Refuses data and configurations that the checkpoint is not of.
 *
 * @returns whether the run is complete: nothing is left to do, and all of its files are there.
 * @throws TrainerError CHECKPOINT_MISMATCH, CHECKPOINT_FORMAT
 */
export async function checkEarlier(
  { folder, checkpoint }: Resumed,
  options: TrainOptions,
): Promise<boolean> {
  if (checkpoint === null) return false;
  checkResumable(checkpoint, options);
  return !hasWorkLeft(checkpoint, options) && (await isComplete(folder));
}

async function isComplete(folder: string): Promise<boolean> {
  for (const name of [runFiles.model, runFiles.metrics]) {
    const isThere = await stat(join(folder, name)).then(
      (status) => status.isFile(),
      () => false,
    );
    if (!isThere) return false;
  }
  return true;
}

/** What a complete run left for machines. */
export async function resultOf(folder: string): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, runFiles.metrics), "utf8"));
}
