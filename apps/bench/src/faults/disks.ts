/** Disks and folders that can be broken while a run writes there, and mended. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface Disk {
  /** Where runs may lie. */
  readonly folder: string;
  /** Whose process writes there, if not this program's user's. */
  readonly uid: number | undefined;
  break(run: string): void;
  mend(run: string): void;
  remove(): void;
}

/** Permissions don't keep the superuser out; this user they do. */
const NOBODY = 65_534;

/**
 * A file system of a few MB, which can be filled.
 *
 * @throws Error if none can be had here.
 */
export function smallDisk(within: string): Disk {
  const folder = join(within, "disk");
  const filler = join(folder, "filler");
  mkdirSync(folder);
  const mount = ["-t", "tmpfs", "-o", "size=4m,mode=755", "tmpfs", folder];
  try {
    execFileSync("mount", mount, { stdio: "ignore" });
  } catch {
    throw new Error("a small file system can't be mounted here (it takes the superuser)");
  }
  return {
    folder,
    uid: undefined,
    break: () => fill(filler),
    mend: () => rmSync(filler),
    remove() {
      execFileSync("umount", [folder], { stdio: "ignore" });
      rmSync(within, { recursive: true, force: true });
    },
  };
}

/** Writes a file until nothing more fits on the disk. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1 << 20; size >= 1; size >>= 1) {
      const bytes = new Uint8Array(size);
      while (writes(file, bytes));
    }
  } finally {
    closeSync(file);
  }
}

function writes(file: number, bytes: Uint8Array): boolean {
  try {
    return writeSync(file, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}

/** A folder in which a run can be kept from making or removing any files. @throws Error */
export function lockableFolder(within: string): Disk {
  if (process.getuid === undefined) throw new Error("folders can't be made read-only here");
  const uid = process.getuid() === 0 ? NOBODY : undefined;
  if (uid !== undefined) chownSync(within, uid, uid);
  const setMode = (run: string, mode: number) => {
    for (const folder of [run, join(run, "checkpoints")]) chmodSync(folder, mode);
  };
  return {
    folder: within,
    uid,
    break: (run) => setMode(run, 0o555),
    mend: (run) => setMode(run, 0o755),
    remove: () => rmSync(within, { recursive: true, force: true }),
  };
}
