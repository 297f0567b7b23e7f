/** Reads a run's events, and checks that they are one consistent history. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";

/** All events of a run's folder. @throws if a line is no JSON, as a torn one. */
export function eventsOf(folder: string): readonly RunEvent[] {
  const text = readFileSync(join(folder, "events.jsonl"), "utf8");
  if (text !== "" && !text.endsWith("\n")) throw new Error(`${folder}: the last event is torn`);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunEvent);
}

/**
 * What is wrong with a run's events: nothing, if each row of each of so many epochs was trained on exactly
 * once, whatever became of the process meanwhile. Not for runs that have lost devices, whose rows are
 * trained on again.
 *
 * @param rows - of an epoch.
 * @param epochs - that must be complete; of later ones no row may be there twice.
 */
export function faultsIn(
  events: readonly RunEvent[],
  rows: number,
  epochs: number,
): readonly string[] {
  const faults: string[] = [];
  const times = new Map<number, Uint8Array>();
  let trained = 0;
  let at = 0;
  for (const [i, event] of events.entries()) {
    const what = `event ${i} (${event.type})`;
    if ((event.type === "start") !== (i === 0 && event.type !== "resume")) {
      faults.push(`${what} is not where it should be`);
    }
    if (event.at < at) faults.push(`${what} is at ${event.at}, before the one before it at ${at}`);
    at = event.at;
    if (event.type === "resume" && event.rows !== trained) {
      faults.push(`${what} goes on after ${event.rows} rows, but ${trained} were trained on`);
    }
    if (event.type !== "done") continue;
    for (const { epoch, start, count } of event.rows) {
      const counts = times.get(epoch) ?? new Uint8Array(rows);
      times.set(epoch, counts);
      trained += count;
      for (let row = start; row < start + count; row++) counts[row]!++;
    }
  }
  for (let epoch = 0; epoch < epochs; epoch++) {
    const missing = times.get(epoch)?.filter((count) => count === 0).length ?? rows;
    if (missing > 0) faults.push(`${missing} rows of epoch ${epoch} are missing`);
  }
  for (const [epoch, counts] of times) {
    const doubled = counts.filter((count) => count > 1).length;
    if (doubled > 0) faults.push(`${doubled} rows of epoch ${epoch} were trained on again`);
  }
  return faults;
}
