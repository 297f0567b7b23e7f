import { createWriteStream } from "node:fs";

/** Longest time in ms that a line waits for others to be written together with. */
const DELAY_MS = 500;
/** Lines that are written without waiting for more. */
const MANY = 512;

/** A text file that grows by lines. */
export interface LineFile<T> {
  /** Adds a line; it is in the file half a second later at the latest. Does nothing after `close`. */
  write(entry: T): void;
  /** Writes what is left; resolves once the file is closed, whether or not that succeeded. */
  close(): Promise<void>;
}

/**
 * Appends to a file, many lines at a time: to turn each into text and have it written by itself
 * takes the thread that coordinates the devices longer than all the rest that it does.
 *
 * @param text - the line of an entry, which must not change any more.
 * @param onError - told if lines could not be written; all later ones are dropped.
 */
export function createLineFile<T>(
  path: string,
  text: (entry: T) => string,
  onError: (error: Error) => void,
): LineFile<T> {
  const stream = createWriteStream(path, { flags: "a" });
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  let entries: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let failed = false;
  stream.on("error", (error) => {
    failed = true;
    onError(error);
  });

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = entries.map((entry) => `${text(entry)}\n`);
    entries = [];
    if (lines.length > 0 && !failed) stream.write(lines.join(""));
  }

  return {
    write(entry) {
      if (failed || stream.writableEnded) return;
      entries.push(entry);
      if (entries.length >= MANY) flush();
      else timer ??= setTimeout(flush, DELAY_MS);
    },
    close() {
      flush();
      stream.end();
      return closed;
    },
  };
}
