import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  checkpointsFolder,
  latestCheckpoint,
  openCheckpoint,
  runFiles,
  TrainerError,
  type Checkpoint,
} from "@heterosgd/trainer";

/**
 * The model file that a path names: itself, a checkpoint's, or a run's. A run that was killed has the model of its newest
 * checkpoint.
 *
 * @param say - told where that is another than the run's own.
 * @throws TrainerError CHECKPOINT_DAMAGED and what else opening a checkpoint throws
 */
export async function modelPath(path: string, say: (text: string) => void): Promise<string> {
  const stats = await stat(path).catch(() => null);
  if (!stats?.isDirectory()) return path;
  if (await isCheckpoint(path)) return (await openCheckpoint(path)).modelFile;
  const model = join(path, runFiles.model);
  if ((await ageOf(join(path, runFiles.metrics))) !== null) return model;
  const checkpoint = await newest(join(path, checkpointsFolder), say);
  if (checkpoint === null) return model;
  const [own, its] = [await ageOf(model), await ageOf(checkpoint.modelFile)];
  if (own !== null && (its === null || own >= its)) return model;
  say(`the run is not finished; its newest checkpoint is taken: ${checkpoint.path}`);
  return checkpoint.modelFile;
}

/** Null where there are none, or none that is whole. */
async function newest(folder: string, say: (text: string) => void): Promise<Checkpoint | null> {
  try {
    return await latestCheckpoint(folder, ({ error }) => say(error.message));
  } catch (error) {
    if (error instanceof TrainerError && error.code === "NO_CHECKPOINT") return null;
    throw error;
  }
}

/** Whether a folder is a checkpoint's, whole or not. */
export async function isCheckpoint(path: string): Promise<boolean> {
  const names = await readdir(path).catch((): string[] => []);
  return names.includes("state.json") && names.includes(runFiles.model);
}

async function ageOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}
