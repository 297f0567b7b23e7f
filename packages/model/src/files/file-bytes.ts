/** Reading and writing all of many bytes, which the system takes a part at a time. */
import { open, type FileHandle } from "node:fs/promises";

/** Bytes to a single read or write: well below the 2 GiB that the system takes at once. */
const chunkBytes = 2 ** 26;

/**
 * Fills `target` from a file, beginning at byte `position`.
 *
 * @returns whether there was as much to read.
 * @throws the system's error
 */
export async function readAll(
  file: FileHandle,
  target: Uint8Array,
  position: number,
): Promise<boolean> {
  for (let done = 0; done < target.length;) {
    const count = Math.min(chunkBytes, target.length - done);
    const { bytesRead } = await file.read(target, done, count, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}

/** Writes all of `source` where the file stands. @throws the system's error */
export async function writeAll(file: FileHandle, source: Uint8Array): Promise<void> {
  for (let done = 0; done < source.length;) {
    const count = Math.min(chunkBytes, source.length - done);
    done += (await file.write(source, done, count)).bytesWritten;
  }
}

/**
 * Makes what was renamed or removed in a folder last. Not every system can flush a folder; the files
 * themselves are safe without.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  if (folder === null) return;
  await folder.sync().catch(() => undefined);
  await folder.close();
}
