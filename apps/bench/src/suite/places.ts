import type { Environment } from "../environment.js";
import { median } from "../statistics.js";
import type { RunRecord } from "./run-record.js";

/** A machine and a commit that runs were made on. */
export interface Place extends Omit<Environment, "load"> {
  readonly runs: number;
  /** Load averages of the minute before each run; the run before is in them. */
  readonly load: { readonly median: number; readonly low: number; readonly high: number };
}

/** Where runs were made, in the order of the first of each place. */
export function placesOf(records: readonly Pick<RunRecord, "environment">[]): readonly Place[] {
  const loads = new Map<string, number[]>();
  for (const { environment } of records) {
    const { load, ...place } = environment;
    const key = JSON.stringify(place);
    loads.set(key, [...(loads.get(key) ?? []), load]);
  }
  return [...loads].map(([key, of]) => ({
    ...(JSON.parse(key) as Omit<Environment, "load">),
    runs: of.length,
    load: { median: median(of), low: Math.min(...of), high: Math.max(...of) },
  }));
}

export function placeWords(place: Place): string {
  const { node, processor, cores, memoryGiB, commit, runs, load } = place;
  return (
    `${runs} runs: ${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, ` +
    `load ${load.median.toFixed(1)} (${load.low.toFixed(1)}–${load.high.toFixed(1)}) when they began, ` +
    `commit ${commit ?? "unknown"}`
  );
}
