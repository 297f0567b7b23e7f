/** What `--tensorboard` does. */
import { basename, join, resolve } from "node:path";
import {
  probeFolder,
  reasonOf,
  tensorboardFolder,
  type RunEvent,
  type RunFolder,
} from "@heterosgd/trainer";
import { CliError } from "../errors.js";
import { createEventFile } from "./event-file.js";
import { createScalars } from "./scalars.js";

export interface TensorboardRecord {
  event(event: RunEvent): void;
  /** Waits until all is written, or could not be. */
  close(): Promise<void>;
}

/**
 * Refuses a folder in which nothing can be written; leaves nothing behind.
 *
 * @param folder - what `--tensorboard` says.
 * @throws CliError BAD_VALUE
 */
export async function checkTensorboard(folder: boolean | string): Promise<void> {
  if (typeof folder === "boolean") return;
  try {
    await probeFolder(folder);
  } catch (cause) {
    const why = reasonOf(cause);
    throw new CliError("BAD_VALUE", `--tensorboard cannot write into ${folder}: ${why}`, {
      cause,
      hint: "what comes behind --tensorboard is its folder; without one it is the run's",
    });
  }
}

/** Where event files of a run are written, null where none are. */
export function tensorboardPath(
  wanted: boolean | string,
  { path, draftPath }: Pick<RunFolder, "path" | "draftPath">,
): string | null {
  if (wanted === false) return null;
  return wanted === true
    ? join(draftPath, tensorboardFolder)
    : join(wanted, basename(resolve(path)));
}

/**
 * Writes a run's events for TensorBoard into a new file in the folder.
 *
 * @param warn - told once if that cannot be done; the run goes on without.
 */
export function recordForTensorboard(
  folder: string,
  warn: (text: string) => void,
): TensorboardRecord {
  const file = createEventFile(folder, (error) =>
    warn(`${folder} gets nothing more for TensorBoard, ${reasonOf(error)}; training goes on`),
  );
  return {
    event: createScalars(file, () => Date.now() / 1000),
    close: () => file.close(),
  };
}
