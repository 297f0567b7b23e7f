/**
 * A run's folder says who is at work in it: `running.json`, as long as that process lives. A process
 * that was killed leaves it behind; the next one sees that nobody is there any more.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, readlink, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TrainerError } from "../errors.js";
import { parseSafeJson } from "../checkpoint/safe-json.js";
import { codeOf } from "./make-folders.js";
import { writeWhole } from "./write-whole.js";

export const lockFile = "running.json";

/** How often the owner shows that it is alive, and after which time in ms without it is not. */
const BEAT_MS = 5000;
const SILENCE_MS = 30_000;
const LOOK_MS = 1000;

/** How often a lock may vanish while it is looked at. */
const MOST_MISSES = 100;

/** The process that is at work in a run's folder. */
export interface RunOwner {
  readonly pid: number;
  /** The machine, and on it the numbering that `pid` is of: containers have their own. */
  readonly host: string;
  readonly space: string;
  /** When the process began, as the system tells; null where it does not. */
  readonly started: string | null;
  /** When it began to work here, ISO 8601. */
  readonly since: string;
  /** Whether its run is to replace the one that lies there, and is written in a folder within. */
  readonly replaces: boolean;
  /** Whether it follows its list of devices by now: before, a SIGHUP ends it. */
  readonly listens: boolean;
}

export interface RunLock {
  /** Says that a SIGHUP makes this process read its list of devices again. @throws the system's error */
  listen(): Promise<void>;
  /** Says that nobody is at work any more. Not needed where the process ends anyhow. */
  release(): Promise<void>;
}

/**
 * Makes this process the one that is at work in a run's folder, which must exist.
 *
 * An owner on this machine is known to be alive or not. One elsewhere shows it every few seconds: where
 * it has done so lately, this waits up to half a minute to see whether it still does.
 *
 * @param replaces - whether the run is to replace the one that lies there.
 * @param onWaiting - told of an owner elsewhere that is waited for.
 * @throws TrainerError RUN_ACTIVE if another process is; the system's error.
 */
export async function lockRun(
  folder: string,
  replaces = false,
  onWaiting: (owner: RunOwner) => void = () => undefined,
): Promise<RunLock> {
  const path = join(folder, lockFile);
  const since = new Date().toISOString();
  const own: RunOwner = { ...(await identity()), since, replaces, listens: false };
  let text = textOf(own);
  for (let misses = 0; !(await create(path, text));) {
    const found = await readOwner(path);
    if (found === null) {
      // Released in between; again and again, it is something else, such as a link to nowhere.
      if (++misses < MOST_MISSES) continue;
      throw new TrainerError("RUN_FOLDER", `${path} can be neither made nor read; remove it`);
    }
    const { owner } = found;
    if (owner !== null && (await isAlive(path, owner, onWaiting))) throw active(folder, owner);
    await takeAway(folder, path, found.text);
  }
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, BEAT_MS);
  timer.unref();
  return {
    async listen() {
      text = textOf({ ...own, listens: true });
      await writeWhole(path, text);
    },
    async release() {
      clearInterval(timer);
      const found = await readOwner(path);
      if (found?.text === text) await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/**
 * Who is at work in a run's folder, null if nobody is: an owner elsewhere that was heard of in the last
 * half minute counts.
 */
export async function runOwner(folder: string): Promise<RunOwner | null> {
  const path = join(folder, lockFile);
  const owner = (await readOwner(path))?.owner ?? null;
  if (owner === null) return null;
  const here = await identity();
  const lives = isHere(owner, here) ? await isSame(owner) : (await silenceOf(path)) < SILENCE_MS;
  return lives ? owner : null;
}

/** Whether signals of this process reach the owner. */
export async function isReachable(owner: RunOwner): Promise<boolean> {
  return isHere(owner, await identity());
}

export function active(folder: string, { pid, host, since }: RunOwner): TrainerError {
  const who = pid === unknownOwner.pid ? "a process" : `process ${pid} on ${host}`;
  return new TrainerError(
    "RUN_ACTIVE",
    `${folder} is being worked in by ${who}, since ${since}; wait for its end, or end it`,
  );
}

function textOf(owner: RunOwner): string {
  return `${JSON.stringify(owner)}\n`;
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes what a dead owner has left, unless another process has put its own there meanwhile.
 */
async function takeAway(folder: string, path: string, text: string): Promise<void> {
  const room = await mkdtemp(join(folder, ".lock-"));
  const aside = join(room, randomUUID());
  try {
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) !== text) await rename(aside, path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

/** What the file says; its owner is null where it is torn. Null where there is no file. */
async function readOwner(
  path: string,
): Promise<{ readonly text: string; readonly owner: RunOwner | null } | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return null;
    throw error;
  }
  const text = bytes.toString("utf8");
  try {
    const value = parseSafeJson(bytes, lockFile);
    return { text, owner: ownerOf(value) };
  } catch {
    // It is written in one go: one that is being written will be whole in a moment.
    return { text, owner: (await silenceOf(path)) < LOOK_MS ? unknownOwner : null };
  }
}

const unknownOwner: RunOwner = {
  pid: 0,
  host: "",
  space: "",
  started: null,
  since: "just now",
  replaces: false,
  listens: false,
};

function ownerOf(value: unknown): RunOwner | null {
  const { pid, host, space, started, since, replaces, listens } = Object(value) as Record<
    string,
    unknown
  >;
  const texts = [host, space, since].every((each) => typeof each === "string");
  if (!texts || !Number.isSafeInteger(pid) || Number(pid) < 1) return null;
  return {
    pid: Number(pid),
    host: String(host),
    space: String(space),
    started: typeof started === "string" ? started : null,
    since: String(since),
    replaces: replaces === true,
    listens: listens === true,
  };
}

async function isAlive(
  path: string,
  owner: RunOwner,
  onWaiting: (owner: RunOwner) => void,
): Promise<boolean> {
  if (isHere(owner, await identity())) return isSame(owner);
  const heard = await lastBeat(path);
  if (heard === null || (await silenceOf(path)) >= SILENCE_MS) return false;
  onWaiting(owner);
  for (let waited = 0; waited < SILENCE_MS; waited += LOOK_MS) {
    await sleep(LOOK_MS);
    const now = await lastBeat(path);
    if (now === null) return false;
    if (now !== heard) return true;
  }
  return false;
}

function isHere(a: Pick<RunOwner, "host" | "space">, b: Pick<RunOwner, "host" | "space">): boolean {
  return a.host === b.host && a.space === b.space;
}

/** Whether the process is there and is the very one: numbers are used again. */
async function isSame({ pid, started }: RunOwner): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  const now = await startOf(pid);
  return started === null || now === null || now === started;
}

async function identity(): Promise<Omit<RunOwner, "since" | "replaces" | "listens">> {
  const { pid } = process;
  const space = await readlink("/proc/self/ns/pid").catch(() => "");
  return { pid, host: hostname(), space, started: await startOf(pid) };
}

/** Which start of the machine, and how many ticks of its clock after it. Linux tells. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    const status = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything; the start is the 20th member after it.
    const members = status.slice(status.lastIndexOf(")") + 2).split(" ");
    if (members[0] === "Z") return "it has ended, but nobody has taken notice";
    return members[19] === undefined ? null : `${boot.trim()} ${members[19]}`;
  } catch {
    return null;
  }
}

async function lastBeat(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

async function silenceOf(path: string): Promise<number> {
  const heard = await lastBeat(path);
  return heard === null ? Infinity : Date.now() - heard;
}
