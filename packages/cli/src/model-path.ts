import { stat } from "node:fs/promises";
import { join } from "node:path";
import { runFiles } from "@heterosgd/trainer";

/** The model file that a path names: itself, or the one in a run's folder. */
export async function modelPath(path: string): Promise<string> {
  const stats = await stat(path).catch(() => null);
  return stats?.isDirectory() ? join(path, runFiles.model) : path;
}
