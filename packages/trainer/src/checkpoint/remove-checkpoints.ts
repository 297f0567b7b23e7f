/** What is removed: old checkpoints, those of a future that did not come to be, and leftovers. */
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { syncFolder } from "@heterosgd/model/node";
import { codeOf } from "../run/make-folders.js";
import { listCheckpoints, ranked } from "./list-checkpoints.js";
import { doneFile } from "./manifest.js";
import {
  compareFolders,
  folderName,
  isTemporary,
  namesIn,
  parseFolderName,
  stepFolders,
} from "./step-folders.js";

/**
 * Removes all checkpoints but the `keep` newest and the best by precision at the first cut-off. Those
 * that can't be used are left alone.
 *
 * @returns the paths of what was removed.
 * @throws RangeError unless `keep` is a whole number of at least 1; the system's error.
 */
export async function pruneCheckpoints(folder: string, keep: number): Promise<readonly string[]> {
  if (!(Number.isSafeInteger(keep) && keep >= 1)) {
    throw new RangeError(`at least 1 checkpoint must be kept, received ${keep}`);
  }
  const { checkpoints } = await listCheckpoints(folder);
  const [best] = ranked(checkpoints);
  const old = checkpoints.slice(0, -keep).filter((checkpoint) => checkpoint !== best);
  for (const { path } of old) await removeCheckpoint(path);
  return old.map(({ path }) => path);
}

/**
 * Removes the checkpoints after this one: a run that goes on from it writes others.
 *
 * @throws the system's error
 */
export async function discardAfter(folder: string, checkpoint: string): Promise<void> {
  const last = parseFolderName(basename(checkpoint));
  if (last === null) throw new RangeError(`${checkpoint} is no checkpoint's folder`);
  // The newest first: whatever happens meanwhile, those that are left are a run's first ones.
  for (const found of (await stepFolders(folder)).toReversed()) {
    if (compareFolders(found, last) > 0) await removeCheckpoint(join(folder, folderName(found)));
  }
}

/**
 * Removes what was left of checkpoints that were not completed, or not quite removed. Not to be called
 * while another process may be writing one.
 *
 * @returns the paths of what was removed.
 * @throws the system's error
 */
export async function sweepCheckpoints(folder: string): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    const isLeftover =
      isTemporary(name) || (parseFolderName(name) !== null && !(await isComplete(path)));
    if (!isLeftover) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

async function isComplete(path: string): Promise<boolean> {
  try {
    return (await namesIn(path)).includes(doneFile);
  } catch (error) {
    // A file of that name is somebody else's.
    if (codeOf(error) === "ENOTDIR") return true;
    throw error;
  }
}

/** `DONE` first: half of a checkpoint is none. */
async function removeCheckpoint(path: string): Promise<void> {
  await rm(join(path, doneFile), { force: true });
  await syncFolder(path);
  await rm(path, { recursive: true, force: true });
}
