import { readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { EventsPosition } from "../checkpoint/record.js";
import { TrainerError } from "../errors.js";
import { discardEvents } from "./discard-events.js";
import { codeOf, makeFolders, probeFolder, reasonOf } from "./make-folders.js";
import { createLineFile } from "./line-file.js";
import type { RunEvent } from "./run-event.js";
import { active, lockFile, lockRun, runOwner, type RunLock } from "./run-lock.js";
import { writeWhole } from "./write-whole.js";

/** Files of a run, by what they hold. The events are what tells a run's folder from others. */
export const runFiles = {
  config: "config.json",
  events: "events.jsonl",
  model: "model.safetensors",
  log: "log.txt",
  metrics: "metrics.json",
} as const;

/** The folder of a run's checkpoints, within the run's. */
export const checkpointsFolder = "checkpoints";

/** The folder of what TensorBoard shows, within the run's. */
export const tensorboardFolder = "tensorboard";

/** Events that have not happened any more since the run was resumed from before them. */
export const discardedEventsFile = "events.discarded.jsonl";

/** The list of devices that a run under way is to have. */
export const devicesFile = "devices.json";

type RunFile = keyof typeof runFiles;

const fileKeys = Object.keys(runFiles) as RunFile[];

/** Where a run lies that is to replace an earlier one, until it is complete. */
export const replacementFolder = "replacement";

export interface RunFolderOptions {
  /** Replaces the run that is there, once the new one is complete. Default: false. */
  readonly force?: boolean;
  /** Files that the run reads, which it must not replace. Default: none. */
  readonly inputs?: readonly string[];
  /** Takes `path-2`, `path-3` and so on where the path is taken. Default: false. */
  readonly unique?: boolean;
}

/** The folder that a run leaves behind. */
export interface RunFolder {
  readonly path: string;
  /** Where a file of the run lies once the run is complete. */
  file(name: RunFile): string;
  /**
   * The folder in which the files are written: another than `path` while an earlier run lies there.
   */
  readonly draftPath: string;
  /** Where a file is written. */
  draft(name: RunFile): string;
  /** Where checkpoints are written. */
  readonly checkpoints: string;
  /** Says that this process is at work here; to be released when nothing more is written. */
  readonly lock: RunLock;
  /**
   * Appends a line to the event stream, within half a second: a process that is killed takes the last ones
   * with it. Does nothing after `close`.
   */
  event(event: RunEvent): void;
  /** Appends a line of the log that people read, within half a second; does nothing after `close`. */
  log(line: string): void;
  /**
   * Sees to it that all events until now are on the disk, and says where they end. @throws the system's error
   */
  position(): Promise<EventsPosition>;
  /**
   * Writes the metrics so that they are there whole or not at all, and behind all events until
   * now. @throws TrainerError RUN_FOLDER
   */
  metrics(value: unknown): Promise<void>;
  /**
   * Waits until events and log are written. @throws TrainerError RUN_FOLDER if any could not be.
   */
  close(): Promise<void>;
  /** After `close`: puts the files in place of an earlier run's. @throws TrainerError RUN_FOLDER */
  replace(): Promise<void>;
}

/**
 * Refuses a folder that `createRunFolder` would refuse, and leaves nothing behind: ask before
 * anything costly is done for the run.
 *
 * @throws TrainerError RUN_EXISTS, RUN_ACTIVE, RUN_FOLDER
 */
export async function checkRunFolder(path: string, options: RunFolderOptions = {}): Promise<void> {
  try {
    if (options.unique === true) return await probeFolder(dirname(path));
    await holdsRun(path, options);
    await probeFolder(path);
  } catch (error) {
    throw asFolderError(path, error);
  }
}

/**
 * Makes the folder of a new run. Where `force` replaces an earlier run, the files are written into
 * a folder `replacement` within, and the earlier run stays as it is until `replace` is called.
 *
 * @param config - what `config.json` is to hold.
 * @param onFailure - told once, as soon as an event or a line of the log could not be written; all
 * later ones are dropped, and `close` will throw the same.
 * @returns the folder, locked. What an attempt left that was killed while it made the folder is removed.
 * @throws TrainerError RUN_EXISTS if the folder holds anything, unless `force` is set and it is a
 * run whose files are none of the inputs; RUN_ACTIVE if that is under way; RUN_FOLDER if it cannot be made or written to. Nothing is
 * left behind then.
 */
export async function createRunFolder(
  path: string,
  config: unknown,
  {
    onFailure,
    ...options
  }: RunFolderOptions & { readonly onFailure?: (error: TrainerError) => void } = {},
): Promise<RunFolder> {
  const folders: string[] = [];
  const files: string[] = [];
  let lock: RunLock | undefined;
  try {
    if (options.unique === true) return await open(await makeUnique(path, folders), false);
    const replaces = await holdsRun(path, options);
    await makeFolders(replaces ? join(path, replacementFolder) : path, folders);
    return await open(path, replaces);
  } catch (error) {
    await lock?.release();
    for (const file of files) await rm(file, { force: true }).catch(() => undefined);
    for (const made of folders.toReversed()) await rmdir(made).catch(() => undefined);
    throw asFolderError(path, error);
  }

  async function open(at: string, replaces: boolean): Promise<RunFolder> {
    const draftPath = replaces ? join(at, replacementFolder) : at;
    const draft = (name: RunFile) => join(draftPath, runFiles[name]);
    lock = await lockRun(at, replaces);
    // What an earlier attempt left.
    if (replaces) await removeRun(draftPath);
    else if (await isHalfMade(at)) await removeAllBut(at, lockFile);
    for (const name of ["events", "log"] as const) {
      // Exclusively, as another run may have begun, and ended, in the same folder.
      await writeFile(draft(name), "", { flag: "wx" });
      files.push(draft(name));
    }
    files.push(draft("config"));
    await writeJson(draft("config"), config);
    return openRunFolder(at, draftPath, lock, onFailure);
  }
}

/** Whether nobody has begun a run in a folder, or only began to make one: nothing is lost with it. */
export async function isHalfMade(path: string): Promise<boolean> {
  const names = await namesIn(path);
  if (names.includes(runFiles.config)) return false;
  for (const name of names) {
    const isEmpty = async () => (await stat(join(path, name))).size === 0;
    const isOwn = [runFiles.events, runFiles.log].some((own) => own === name) && (await isEmpty());
    const isDraft = name.startsWith(`${runFiles.config}.`) && name.endsWith(".tmp");
    if (!isOwn && !isDraft && name !== lockFile) return false;
  }
  return true;
}

/** None where there is no such folder. @throws the system's error */
async function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}

/**
 * Opens the folder of a run that goes on from a checkpoint, or anew from its start. Events that came later are
 * set aside, metrics that were final are no more; the model stays until there is another.
 *
 * @param config - what `config.json` is to hold from now on.
 * @param position - where the events end that belong to the checkpoint; null where none do.
 * @param lock - of this folder.
 * @throws TrainerError RUN_FOLDER
 */
export async function resumeRunFolder(
  path: string,
  config: unknown,
  position: EventsPosition | null,
  lock: RunLock,
  onFailure?: (error: TrainerError) => void,
): Promise<RunFolder> {
  try {
    await rm(join(path, runFiles.metrics), { force: true });
    const discarded = join(path, discardedEventsFile);
    const kept = await discardEvents(join(path, runFiles.events), discarded, position);
    await writeJson(join(path, runFiles.config), config);
    return openRunFolder(path, path, lock, onFailure, kept);
  } catch (error) {
    throw asFolderError(path, error, "");
  }
}

function openRunFolder(
  path: string,
  draftPath: string,
  lock: RunLock,
  onFailure: ((error: TrainerError) => void) | undefined,
  from?: EventsPosition,
): RunFolder {
  const file = (name: RunFile) => join(path, runFiles[name]);
  const draft = (name: RunFile) => join(draftPath, runFiles[name]);
  let failure: TrainerError | undefined;
  const fail = (error: Error) => {
    if (failure !== undefined) return;
    failure = asFolderError(path, error, "");
    onFailure?.(failure);
  };
  const events = createLineFile<RunEvent>(
    draft("events"),
    (event) => JSON.stringify(event),
    fail,
    from,
  );
  const log = createLineFile<string>(draft("log"), (line) => line, fail);

  return {
    path,
    file,
    draftPath,
    draft,
    checkpoints: join(draftPath, checkpointsFolder),
    lock,
    position: () => events.position(),
    event(event) {
      if (failure === undefined) events.write(event);
    },
    log(line) {
      if (failure === undefined) log.write(line);
    },
    async metrics(value) {
      // They tell that a run is complete; that events could not be written is told by others.
      await events.position().catch(() => undefined);
      await writeJson(draft("metrics"), value).catch((error: unknown) => {
        throw asFolderError(path, error, "");
      });
    },
    async close() {
      await Promise.all([events.close(), log.close()]);
      if (failure !== undefined) throw failure;
    },
    async replace() {
      if (draftPath === path) return;
      try {
        // They tell that a run is complete: the old ones go first, the new ones come last.
        await rm(file("metrics"), { force: true });
        const folders = [checkpointsFolder, tensorboardFolder];
        for (const name of folders) await rm(join(path, name), { recursive: true, force: true });
        for (const name of [discardedEventsFile, devicesFile]) {
          await rm(join(path, name), { force: true });
        }
        for (const name of folders) {
          await rename(join(draftPath, name), join(path, name)).catch(ignoreMissing);
        }
        for (const name of fileKeys) await rename(draft(name), file(name));
        // It may hold files of other origin.
        await rmdir(draftPath).catch(() => undefined);
      } catch (error) {
        throw asFolderError(path, error, "");
      }
    },
  };
}

async function removeAllBut(folder: string, kept: string): Promise<void> {
  for (const name of await namesIn(folder)) if (name !== kept) await rm(join(folder, name));
}

/** Removes a run's files and checkpoints from its folder. */
async function removeRun(folder: string): Promise<void> {
  const files = [...Object.values(runFiles), discardedEventsFile, devicesFile];
  for (const name of files) await rm(join(folder, name), { force: true });
  for (const name of [checkpointsFolder, tensorboardFolder]) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** Makes a folder that was not there before, and returns its path. */
async function makeUnique(path: string, made: string[]): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : `${path}-${number}`;
    await makeFolders(candidate, made);
    if (made.at(-1) === candidate) return candidate;
  }
}

/**
 * Whether a run lies at `path` that is to be replaced.
 *
 * @throws TrainerError RUN_EXISTS if anything lies there that must not be, RUN_ACTIVE; the system's error.
 */
async function holdsRun(
  path: string,
  { force = false, inputs = [] }: RunFolderOptions,
): Promise<boolean> {
  const present = await namesIn(path);
  const owner = await runOwner(path);
  if (owner !== null) throw active(path, owner);
  if (await isHalfMade(path)) return false;
  const isRun = present.includes(runFiles.events);
  const names = `${present.slice(0, 3).join(", ")}${present.length > 3 ? ", …" : ""}`;
  if (!isRun || !force) {
    const hint = isRun
      ? ", or pass --force to replace the run there"
      : `: no run lies there that could be replaced (it has no ${runFiles.events})`;
    throw new TrainerError(
      "RUN_EXISTS",
      `${path} already holds files (${names}); choose another folder${hint}`,
    );
  }
  for (const folder of [path, join(path, replacementFolder)]) {
    for (const name of fileKeys) await refuseInput(join(folder, runFiles[name]), inputs);
  }
  return true;
}

/** @throws TrainerError RUN_EXISTS if the file is one of the inputs, under whatever name. */
async function refuseInput(file: string, inputs: readonly string[]): Promise<void> {
  const own = await identityOf(file);
  if (own === null) return;
  for (const input of inputs) {
    if ((await identityOf(input)) !== own) continue;
    throw new TrainerError(
      "RUN_EXISTS",
      `the run would replace ${file}, which it reads; choose another folder`,
    );
  }
}

async function identityOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => null,
  );
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeWhole(file, `${JSON.stringify(value, null, 2)}\n`);
}

function asFolderError(
  path: string,
  error: unknown,
  hint = "; choose another with --out",
): TrainerError {
  if (error instanceof TrainerError) return error;
  const reason = reasonOf(error);
  return new TrainerError("RUN_FOLDER", `cannot write the run folder ${path}: ${reason}${hint}`, {
    cause: error,
  });
}
