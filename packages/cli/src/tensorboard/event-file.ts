import { randomUUID } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeFolders } from "@heterosgd/trainer";
import { scalarsEvent, startEvent, versionEvent, type Point } from "./event-message.js";
import { tfRecord } from "./record.js";
import type { Beginning, ScalarsTarget } from "./scalars.js";

/** Longest time in ms that a point waits for others to be written together with. */
const DELAY_MS = 1000;
/** Points that are written without waiting for more. */
const MANY = 256;

/** A file that TensorBoard reads while it grows. */
export interface EventFile extends ScalarsTarget {
  /** Writes what is left; resolves once the file is closed, whether or not that succeeded. */
  close(): Promise<void>;
}

/**
 * Writes a new file into the folder, which is made if it is missing, once the run begins. TensorBoard
 * takes all files of a folder for one run, in the order of their names, which begin with the time.
 *
 * @param onError - told once if the file could not be written; all later points are dropped.
 */
export function createEventFile(folder: string, onError: (error: Error) => void): EventFile {
  let stream: Promise<WriteStream | null> = Promise.resolve(null);
  let hasFailed = false;
  let points: Point[] = [];
  let timer: NodeJS.Timeout | undefined;

  function fail(error: Error): void {
    if (!hasFailed) onError(error);
    hasFailed = true;
    points = [];
  }

  async function open({ wallTime, step }: Beginning): Promise<WriteStream | null> {
    try {
      await makeFolders(folder, []);
    } catch (error) {
      fail(error as Error);
      return null;
    }
    const opened = createWriteStream(join(folder, fileName(wallTime)), { flags: "wx" });
    opened.on("error", fail);
    opened.write(Buffer.concat([versionEvent(wallTime), startEvent(wallTime, step)].map(tfRecord)));
    return opened;
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const due = points;
    points = [];
    const opened = await stream;
    if (due.length === 0 || opened === null || hasFailed) return;
    opened.write(Buffer.concat(due.map((point) => tfRecord(scalarsEvent(point)))));
  }

  return {
    begin: (beginning) => void (stream = open(beginning)),
    point(point) {
      if (hasFailed) return;
      points.push(point);
      if (points.length >= MANY) void flush();
      else timer ??= setTimeout(() => void flush(), DELAY_MS);
    },
    async close() {
      await flush();
      const opened = await stream;
      if (opened === null) return;
      const closed = new Promise<void>((resolve) => {
        if (opened.closed) resolve();
        else opened.on("close", resolve);
      });
      opened.end();
      await closed;
    },
  };
}

/** `events.out.tfevents.1796144701.host.4711.0f8fad5b`: what comes first tells TensorBoard what it is. */
function fileName(wallTime: number): string {
  const seconds = String(Math.floor(wallTime)).padStart(10, "0");
  const host = hostname().replaceAll(/[^\w.-]/g, "_") || "localhost";
  return `events.out.tfevents.${seconds}.${host}.${process.pid}.${randomUUID().slice(0, 8)}`;
}
