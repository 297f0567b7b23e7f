import { lstat, mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Makes a folder and those above it that are missing.
 *
 * Level by level: Node's own recursive `mkdir` never returns where a folder cannot be made in one
 * that exists (`/proc`, a working directory that was deleted), and hides that a file system is
 * read-only.
 *
 * @param made - gets each folder that was made, outermost first, even if a later one fails.
 * @throws the system's error.
 */
export async function makeFolders(path: string, made: string[]): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolders(parent, made);
  try {
    await mkdir(path);
  } catch (error) {
    // Another program may have made it just now.
    if (await isFolder(path)) return;
    throw error;
  }
  made.push(path);
}

/**
 * Tries whether a folder can be made at `path`, or written to if it is there. Leaves nothing
 * behind.
 *
 * @throws the system's error.
 */
export async function probeFolder(path: string): Promise<void> {
  let nearest = path;
  while (!(await isThere(nearest)) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  await rmdir(await mkdtemp(join(nearest, ".heterosgd-")));
}

/** The system's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Why nothing can be written at a place, in words. */
export function reasonOf(error: unknown): string {
  const isFile = "it, or a part of its path, is a file";
  const why: Record<string, string> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
    EDQUOT: "the disk's quota is used up",
    EFBIG: "files may not become that large there",
    ENOENT: "no folder can be made there",
    ENOTDIR: isFile,
    EEXIST: isFile,
  };
  return why[codeOf(error) ?? ""] ?? (error as Error).message;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
