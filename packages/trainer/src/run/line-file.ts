import { createWriteStream, fsync } from "node:fs";
import { promisify } from "node:util";
import type { EventsPosition } from "../checkpoint/record.js";

/** Longest time in ms that a line waits for others to be written together with. */
const DELAY_MS = 500;
/** Lines that are written without waiting for more. */
const MANY = 512;

/** A text file that grows by lines. */
export interface LineFile<T> {
  /** Adds a line; it is in the file half a second later at the latest. Does nothing after `close`. */
  write(entry: T): void;
  /**
   * Writes all lines until now and flushes them to the disk; says where they end. @throws the system's error
   */
  position(): Promise<EventsPosition>;
  /** Writes what is left; resolves once the file is closed, whether or not that succeeded. */
  close(): Promise<void>;
}

const flushToDisk = promisify(fsync);

/**
 * Appends to a file, many lines at a time: to turn each into text and have it written by itself
 * takes the thread that coordinates the devices longer than all the rest that it does.
 *
 * @param text - the line of an entry, which must not change any more.
 * @param onError - told if lines could not be written; all later ones are dropped.
 * @param from - where the file ends now.
 */
export function createLineFile<T>(
  path: string,
  text: (entry: T) => string,
  onError: (error: Error) => void,
  from: EventsPosition = { bytes: 0, lines: 0 },
): LineFile<T> {
  const stream = createWriteStream(path, { flags: "a" });
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  let entries: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let failure: Error | undefined;
  let { bytes, lines: written } = from;
  stream.on("error", (error) => {
    failure = error;
    onError(error);
  });

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = entries.map((entry) => `${text(entry)}\n`);
    entries = [];
    if (lines.length === 0 || failure !== undefined) return;
    const all = lines.join("");
    bytes += Buffer.byteLength(all);
    written += lines.length;
    stream.write(all);
  }

  return {
    write(entry) {
      if (failure !== undefined || stream.writableEnded) return;
      entries.push(entry);
      if (entries.length >= MANY) flush();
      else timer ??= setTimeout(flush, DELAY_MS);
    },
    async position() {
      flush();
      const now = { bytes, lines: written };
      await new Promise<void>((resolve, reject) => {
        if (failure !== undefined) reject(failure);
        else stream.write("", (error) => (error ? reject(error) : resolve()));
      });
      const { fd } = stream as unknown as { readonly fd: number };
      await flushToDisk(fd);
      return now;
    },
    close() {
      flush();
      stream.end();
      return closed;
    },
  };
}
