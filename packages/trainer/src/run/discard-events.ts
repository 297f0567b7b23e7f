import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { EventsPosition } from "../checkpoint/record.js";
import { codeOf } from "./make-folders.js";

/**
 * Cuts an event stream where a checkpoint has been taken: what came later has not happened, as far as
 * the run is concerned that goes on from there. It is appended to another file before it is cut off.
 *
 * @param position - where the lines end that are to stay. Where that is not known, or not in the file,
 * none stay.
 * @returns where the lines end now.
 * @throws the system's error
 */
export async function discardEvents(
  path: string,
  discarded: string,
  position: EventsPosition | null,
): Promise<EventsPosition> {
  const size = await sizeOf(path);
  const kept =
    position !== null && position.bytes <= size && (await endsLine(path, position.bytes))
      ? position
      : { bytes: 0, lines: 0 };
  if (size > kept.bytes) {
    const output = createWriteStream(discarded, { flags: "a", flush: true });
    const torn = !(await endsLine(path, size));
    await pipeline(
      createReadStream(path, { start: kept.bytes }),
      async function* (bytes: AsyncIterable<Buffer>) {
        yield* bytes;
        // The process was killed within a line.
        if (torn) yield Buffer.from("\n");
      },
      output,
    );
  }
  const file = await open(path, "a");
  try {
    await file.truncate(kept.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return kept;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** Whether so many bytes are whole lines. */
async function endsLine(path: string, bytes: number): Promise<boolean> {
  if (bytes === 0) return true;
  const file = await open(path, "r");
  try {
    const last = new Uint8Array(1);
    const { bytesRead } = await file.read(last, 0, 1, bytes - 1);
    return bytesRead === 1 && last[0] === 0x0a;
  } finally {
    await file.close();
  }
}
