import { createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TrainerError } from "../errors.js";
import type { RunEvent } from "./run-event.js";

/** Files of a run, by what they hold. */
export const runFiles = {
  config: "config.json",
  events: "events.jsonl",
  metrics: "metrics.json",
  model: "model.safetensors",
  log: "log.txt",
} as const;

/** The folder that a run leaves behind. */
export interface RunFolder {
  readonly path: string;
  file(name: keyof typeof runFiles): string;
  /** Appends a line to the event stream. */
  event(event: RunEvent): void;
  /** Appends a line of the log that people read. */
  log(line: string): void;
  /** Writes a JSON document so that it is there whole or not at all. */
  json(name: "config" | "metrics", value: unknown): Promise<void>;
  /** Waits until all events are written. @throws TrainerError RUN_FOLDER if any could not be. */
  close(): Promise<void>;
}

/**
 * Refuses a folder that a new run would write over: ask before anything costly is done for the run.
 *
 * @throws TrainerError RUN_EXISTS if the folder holds anything.
 */
export async function refuseOccupied(path: string): Promise<void> {
  let present: readonly string[];
  try {
    present = await readdir(path);
  } catch {
    return; // Whatever is wrong with it shows when it is made.
  }
  if (present.length === 0) return;
  const names = `${present.slice(0, 3).join(", ")}${present.length > 3 ? ", …" : ""}`;
  throw new TrainerError(
    "RUN_EXISTS",
    `${path} already holds files (${names}); choose another folder, or pass --force to replace the run there`,
  );
}

/**
 * Makes the folder of a new run.
 *
 * @param force - replaces the files of an earlier run that is there (and nothing else in the folder).
 * @throws TrainerError RUN_EXISTS if the folder holds anything; RUN_FOLDER if it cannot be made or written to.
 */
export async function createRunFolder(
  path: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<RunFolder> {
  const file = (name: keyof typeof runFiles) => join(path, runFiles[name]);
  try {
    await mkdir(path, { recursive: true });
    if (!force) await refuseOccupied(path);
    for (const name of Object.keys(runFiles))
      await rm(file(name as keyof typeof runFiles), { force: true });
    await writeFile(file("events"), "");
    await writeFile(file("log"), "");
  } catch (error) {
    throw asFolderError(path, error);
  }

  let failure: Error | undefined;
  const append = (name: "events" | "log") => {
    const stream = createWriteStream(file(name), { flags: "a" });
    stream.on("error", (error) => (failure ??= error));
    const closed = new Promise<void>((resolve) => stream.on("close", resolve));
    return {
      write: (line: string) => void (failure ?? stream.write(`${line}\n`)),
      close() {
        stream.end();
        return closed;
      },
    };
  };
  const events = append("events");
  const log = append("log");

  return {
    path,
    file,
    event: (event) => events.write(JSON.stringify(event)),
    log: log.write,
    async json(name, value) {
      const temporary = `${file(name)}.tmp`;
      try {
        await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
        await rename(temporary, file(name));
      } catch (error) {
        throw asFolderError(path, error);
      }
    },
    async close() {
      await Promise.all([events.close(), log.close()]);
      if (failure !== undefined) throw asFolderError(path, failure);
    },
  };
}

function asFolderError(path: string, error: unknown): TrainerError {
  if (error instanceof TrainerError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    EACCES: "permission denied",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
    ENOTDIR: "a part of the path is a file",
    EEXIST: "it is a file",
  };
  return new TrainerError(
    "RUN_FOLDER",
    `cannot write the run folder ${path}: ${why[code ?? ""] ?? message}; choose another with --out`,
    { cause: error },
  );
}
