import type { RunSeries } from "@heterosgd/report";
import type { FeedState } from "../feed.js";

/** How the page stands to the server. */
export type Connection = "connecting" | "live" | "lost";

/** How the run stands, for people. Changes seldom: screen readers tell of each change. */
export function stateWords(state: FeedState | null, connection: Connection): string {
  if (state?.phase === "ended") return "The run has ended.";
  if (connection === "lost") return "The connection is lost; trying again …";
  if (connection === "connecting" || state === null) return "connecting …";
  return state.phase === "starting" ? "The run is about to begin." : "The run goes on.";
}

/** `epoch 2.31, 1,234 rows/s, loss 3.21, P@1 0.456` */
export function progressWords(run: RunSeries): string {
  const evaluation = run.evaluations.at(-1);
  const loss = run.loss.at(-1)?.value;
  const words = [
    ...(run.trainRows > 0 ? [`epoch ${(run.rows / run.trainRows).toFixed(2)}`] : []),
    ...(run.seconds > 0
      ? [`${Math.round(run.rows / run.seconds).toLocaleString("en-US")} rows/s`]
      : []),
    ...(loss === undefined ? [] : [`loss ${loss.toFixed(4)}`]),
    ...(evaluation?.cutoffs.map((k, i) => `P@${k} ${(evaluation.precision[i] ?? 0).toFixed(4)}`) ??
      []),
  ];
  return words.join(", ");
}
