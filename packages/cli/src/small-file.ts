import { createReadStream } from "node:fs";

/** No file that is read whole as text is longer. */
export const MOST_BYTES = 2 ** 24;

/**
 * The text of a configuration, a profile or a result, whatever kind of file it comes from.
 *
 * @throws the system's error; RangeError if it is longer than any such file.
 */
export async function readSmallFile(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  // A device or a pipe does not say how long it is.
  for await (const chunk of createReadStream(path, { end: MOST_BYTES }))
    chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MOST_BYTES) throw new RangeError("it is longer than 16 MiB");
  return bytes.toString("utf8");
}

/** Why it cannot be read, in words. */
export function whyUnreadable(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EISDIR: "it is a folder",
  };
  return known[code] ?? message;
}
