import { rename, rm, writeFile } from "node:fs/promises";

/** Writes a file so that it is there whole or not at all, and on the disk. @throws the system's error */
export async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  // Two processes may be at it.
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, data, { flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
