import { join } from "node:path";
import { TrainerError } from "../errors.js";
import {
  openCheckpoint,
  summarizeCheckpoint,
  type Checkpoint,
  type CheckpointSummary,
} from "./open-checkpoint.js";
import { folderName, stepFolders } from "./step-folders.js";

/** A checkpoint that can't be used, and why. */
export interface UnusableCheckpoint {
  readonly path: string;
  readonly error: TrainerError;
}

export interface CheckpointList {
  /** The oldest first. */
  readonly checkpoints: readonly CheckpointSummary[];
  readonly unusable: readonly UnusableCheckpoint[];
}

/**
 * The checkpoints in a run's folder of them, by what they say: of the models' files only the sizes are
 * looked at.
 *
 * @throws TrainerError CHECKPOINT_UNREADABLE if the folder can't be read; a missing one holds none.
 */
export async function listCheckpoints(folder: string): Promise<CheckpointList> {
  const checkpoints: CheckpointSummary[] = [];
  const unusable: UnusableCheckpoint[] = [];
  for (const path of await pathsIn(folder)) {
    const found = await attempt(summarizeCheckpoint, path);
    if ("error" in found) unusable.push(found);
    else checkpoints.push(found);
  }
  return { checkpoints, unusable };
}

/**
 * Opens the newest checkpoint that is as it was written.
 *
 * @param onUnusable - told of newer ones that are not.
 * @throws TrainerError NO_CHECKPOINT, CHECKPOINT_UNREADABLE
 */
export async function latestCheckpoint(
  folder: string,
  onUnusable: (checkpoint: UnusableCheckpoint) => void = () => undefined,
): Promise<Checkpoint> {
  const paths = await pathsIn(folder);
  return firstOf(folder, paths.toReversed(), onUnusable);
}

/**
 * Opens the checkpoint of the best model by precision at the first cut-off, of those that were
 * evaluated; of equals the newest.
 *
 * @throws TrainerError NO_CHECKPOINT, CHECKPOINT_UNREADABLE
 */
export async function bestCheckpoint(
  folder: string,
  onUnusable: (checkpoint: UnusableCheckpoint) => void = () => undefined,
): Promise<Checkpoint> {
  const { checkpoints } = await listCheckpoints(folder);
  const paths = ranked(checkpoints).map(({ path }) => path);
  return firstOf(folder, paths, onUnusable);
}

/** Those that were evaluated, the best first, of equals the newest; they are given the oldest first. */
export function ranked(checkpoints: readonly CheckpointSummary[]): readonly CheckpointSummary[] {
  const evaluated = checkpoints.filter((checkpoint) => qualityOf(checkpoint) !== null);
  return evaluated.toReversed().toSorted((a, b) => qualityOf(b)! - qualityOf(a)!);
}

function qualityOf({ record }: CheckpointSummary): number | null {
  return record.metrics?.precision[0] ?? null;
}

async function firstOf(
  folder: string,
  paths: readonly string[],
  onUnusable: (checkpoint: UnusableCheckpoint) => void,
): Promise<Checkpoint> {
  const reasons: string[] = [];
  for (const path of paths) {
    const found = await attempt(openCheckpoint, path);
    if (!("error" in found)) return found;
    onUnusable(found);
    reasons.push(found.error.message);
  }
  const why = reasons.length > 0 ? `: ${reasons.join("; ")}` : "";
  throw new TrainerError("NO_CHECKPOINT", `${folder} holds no checkpoint to go on from${why}`);
}

async function attempt<T>(
  use: (path: string) => Promise<T>,
  path: string,
): Promise<T | UnusableCheckpoint> {
  try {
    return await use(path);
  } catch (error) {
    if (error instanceof TrainerError) return { path, error };
    throw error;
  }
}

async function pathsIn(folder: string): Promise<readonly string[]> {
  const found = await stepFolders(folder).catch((error: unknown) => {
    throw new TrainerError(
      "CHECKPOINT_UNREADABLE",
      `the checkpoints in ${folder} can't be read: ${(error as Error).message}`,
      { cause: error },
    );
  });
  return found.map((each) => join(folder, folderName(each)));
}
