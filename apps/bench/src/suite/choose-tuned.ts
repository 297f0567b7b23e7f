import { median } from "../statistics.js";
import type { Options } from "./suite-schema.js";
import { bestPrecision, type RunRecord } from "./run-record.js";

/**
 * The combination with the highest best P@1 on held-out training rows, by the median over seeds; of
 * equal ones the first. One of whose runs diverged is never taken; null if that leaves none.
 */
export function chooseTuned(
  combinations: readonly Options[],
  records: readonly Pick<RunRecord, "tuned" | "result">[],
): Options | null {
  let chosen: Options | null = null;
  let highest = -Infinity;
  for (const combination of combinations) {
    const key = JSON.stringify(combination);
    const scores = records
      .filter(({ tuned }) => JSON.stringify(tuned) === key)
      .map((record) => bestPrecision(record) ?? -Infinity);
    if (scores.length === 0 || scores.includes(-Infinity)) continue;
    const score = median(scores);
    if (score > highest) [chosen, highest] = [combination, score];
  }
  return chosen;
}
