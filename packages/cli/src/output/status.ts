import { formatCount, formatSeconds, formatShare } from "./format.js";
import type { Line } from "./output.js";
import type { Snapshot } from "./progress.js";
import { left, right, tableLines } from "./table.js";

/** The run in one line: where it is, how fast, how good, how long still. */
export function overallLine(snapshot: Snapshot): string {
  if (snapshot.devices.length === 0) return "starting the devices";
  const { epoch, epochs, done, rowsPerSecond, loss, metrics, secondsLeft, isSimulated } = snapshot;
  const first = metrics?.cutoffs[0];
  const parts = [
    `epoch ${epoch}/${epochs}`,
    formatShare(done, 0),
    `${formatCount(rowsPerSecond)} rows/s${isSimulated ? " simulated" : ""}`,
    ...(loss === null ? [] : [`loss ${loss.toFixed(3)}`]),
    ...(metrics === null || first === undefined
      ? []
      : [`P@${first} ${metrics.precision[0]!.toFixed(4)}`]),
    ...(isSimulated ? [`simulated ${formatSeconds(snapshot.seconds)}`] : []),
    ...(secondsLeft === null || done === 1 || isSimulated
      ? []
      : [`${formatSeconds(secondsLeft)} left`]),
  ];
  return parts.join("   ");
}

/** One row for the run, one a device. */
export function statusLines(snapshot: Snapshot): readonly Line[] {
  const devices = tableLines(
    [left(""), right(""), right(""), right(""), right("")],
    snapshot.devices.map(({ name, batchRows, rowsPerSecond, share, busy, lost }) =>
      lost
        ? [`  ${name}`, "lost"]
        : [
            `  ${name}`,
            `batch ${batchRows === null ? "-" : formatCount(batchRows)}`,
            `${formatCount(rowsPerSecond)} rows/s`,
            `${formatShare(share, 0)} of rows`,
            `${formatShare(busy, 0)} busy`,
          ],
    ),
  );
  return [
    { text: overallLine(snapshot), style: "bold" },
    ...devices.map((text) => ({ text, style: "dim" }) as const),
  ];
}
