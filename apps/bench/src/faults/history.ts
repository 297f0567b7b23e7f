/** What a run's event stream says of the rows that it trained on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@heterosgd/trainer";

/** Rows of a run's epochs that did not count once. */
export interface RowCount {
  /** Rows that did not count. */
  readonly lost: number;
  /** How many times rows counted that had counted already. */
  readonly doubled: number;
}

/** The events of a run's folder. @throws Error if a line is torn. */
export function readEvents(folder: string): readonly RunEvent[] {
  const text = readFileSync(join(folder, "events.jsonl"), "utf8");
  if (!text.endsWith("\n")) throw new Error("events.jsonl does not end with a whole line");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line, i) => {
      try {
        return JSON.parse(line) as RunEvent;
      } catch {
        throw new Error(`line ${i + 1} of events.jsonl is torn: ${line.slice(0, 60)}`);
      }
    });
}

/**
 * Counts in two ways: by the rows that each device has trained on, and by what merges and rounds report.
 * What a device trained on that was lost, or that was no more when the run was resumed, may be trained on
 * again, as it may not have been in the model.
 */
export function countRows(
  events: readonly RunEvent[],
  { rows, epochs }: { readonly rows: number; readonly epochs: number },
): RowCount {
  const total = rows * epochs;
  /** By row and epoch: how many have trained on it that were there to the end, and who else has. */
  const lasting = new Uint32Array(total);
  const passing = new Uint32Array(total);
  const lastingDevices = lastingOf(events);
  let outside = 0;
  let reported = 0;
  let part = 0;
  for (const event of events) {
    if (event.type === "resume" && !event.exact) part++;
    if (event.type === "merge" || event.type === "round") reported += event.rows;
    if (event.type !== "done") continue;
    const counts = lastingDevices.has(`${part} ${event.device}`) ? lasting : passing;
    for (const { epoch, start, count } of event.rows) {
      for (let row = start; row < start + count; row++) {
        const at = epoch * rows + row;
        if (row >= rows || at >= total) outside++;
        else counts[at]!++;
      }
    }
  }
  let missing = 0;
  let again = 0;
  for (const [at, times] of lasting.entries()) {
    if (times > 1) again += times - 1;
    if (times === 0 && passing[at] === 0) missing++;
  }
  return {
    lost: Math.max(missing, total - reported),
    doubled: Math.max(again + outside, reported - total),
  };
}

/** Devices that were there to the end: `part id`, where a part begins when others come in their place. */
function lastingOf(events: readonly RunEvent[]): ReadonlySet<string> {
  let part = 0;
  let there = new Set<string>();
  for (const event of events) {
    if (event.type === "start" || (event.type === "resume" && !event.exact)) {
      if (event.type === "resume") part++;
      there = new Set(event.devices.map(({ device }) => `${part} ${device}`));
    }
    if (event.type === "joined") there.add(`${part} ${event.device.id}`);
    if (event.type === "lost") there.delete(`${part} ${event.device}`);
  }
  return there;
}
