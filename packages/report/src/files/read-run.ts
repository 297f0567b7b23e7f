import { createReadStream } from "node:fs";
import { ReportError } from "../errors.js";
import { collectRun } from "../series/collect-run.js";
import type { RunSeries } from "../series/run-series.js";

/** What became of a file of events. */
export interface ReadRun {
  readonly run: RunSeries;
  /** Lines that are no events; the last line of a run that was killed may be one. */
  readonly unread: number;
}

/** No event is longer, however many devices and row ranges it names. */
const LONGEST_LINE = 2 ** 24;

/**
 * Reads a run's events, of a run that is under way or was broken off too, in memory that does not grow with the file.
 *
 * @param path - a run's `events.jsonl`.
 * @param name - what charts call the run.
 * @throws ReportError NO_DATA if it holds no event of a run; the system's error if it cannot be read.
 */
export async function readRun(path: string, name: string): Promise<ReadRun> {
  const collector = collectRun(name);
  let [events, unread] = [0, 0];
  for await (const line of linesOf(path)) {
    if (line?.trim() === "") continue;
    if (line !== null && collector.event(parsed(line))) events++;
    else unread++;
  }
  const run = collector.series();
  if (events === 0 || run.devices.length === 0) {
    throw new ReportError(
      "NO_DATA",
      `${path} holds no events of a run; expected a line of JSON for each, the first of type "start"`,
    );
  }
  return { run, unread };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Lines without their ends; null for one that is too long to be an event. */
async function* linesOf(path: string): AsyncIterable<string | null> {
  let rest = "";
  let isTooLong = false;
  for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 2 ** 18 })) {
    const lines = (chunk as string).split("\n");
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    for (const line of lines) {
      yield isTooLong || line.length > LONGEST_LINE ? null : line;
      isTooLong = false;
    }
    if (rest.length > LONGEST_LINE) {
      isTooLong = true;
      rest = "";
    }
  }
  if (isTooLong) yield null;
  else if (rest !== "") yield rest;
}
