import {
  countRows,
  type DeviceId,
  type Report,
  type RoundReportDevice,
} from "@heterosgd/scheduler";
import type { CoordinateObserver } from "../coordinator/coordinate.js";
import type { DeviceUsage } from "../device/api.js";
import type { RecordedEvent, RetryFailedRecord } from "./run-event.js";

/** What a device has contributed. */
export interface DeviceSummary {
  readonly device: number;
  readonly name: string;
  readonly kernels: string;
  readonly rows: number;
  /** Updates of its that are in the model, as the algorithm counts them. */
  readonly updates: number;
  /** Rows a second while busy with them, a handicap's idling included; 0 if it trained on none. */
  readonly rowsPerSecond: number;
  /** Batch size and merge weight of the last merge or round; null before the first. */
  readonly batchRows: number | null;
  /** Null also where updates are not weighed. */
  readonly weight: number | null;
  /** Smallest merge weight of all merges; null before the first. */
  readonly leastWeight: number | null;
  /**
   * Mean number of updates of the model between the parameters that its updates were computed at
   * and those that they were added to; null where nobody can tell.
   */
  readonly staleness: number | null;
  /** Null if the device never answered. */
  readonly usage: DeviceUsage | null;
  /** Why it was lost, and why it could not be opened anew; null if it was not lost. */
  readonly lost: string | null;
  /** The lost device whose place it has taken; null if it was named or added. */
  readonly replaces: number | null;
}

/** Sums up a run's events by device. */
export interface Tally {
  /** Rows trained on. */
  rows(): number;
  /** Merges and rounds. */
  merges(): number;
  /** Updates of all devices that merges and rounds have reported. */
  steps(): number;
  event(event: RecordedEvent | RetryFailedRecord): void;
  report(report: Report): void;
  summary(usage: readonly (DeviceUsage | null)[]): DeviceSummary[];
}

/** Has the tally, then the run's event stream, hear of everything that the coordinator tells. */
export function recordedBy(
  tally: Tally,
  emit: (event: RecordedEvent | Report) => void,
): CoordinateObserver {
  return {
    onEvent(event) {
      tally.event(event);
      emit(event);
    },
    onReport(report) {
      tally.report(report);
      emit(report);
    },
  };
}

type Counters = {
  -readonly [
    K in keyof Omit<DeviceSummary, "usage" | "rowsPerSecond" | "staleness">
  ]: DeviceSummary[K];
} & {
  seconds: number;
  /** Why it could not be opened anew. */
  readonly failures: string[];
  /** Σ of the staleness of the updates of which it is known, and how many they are. */
  stale: number;
  dated: number;
};

interface NamedDevice {
  readonly name: string;
  readonly kernels: string;
}

/** How far a run had come when it was resumed. */
export interface Earlier {
  readonly rows: number;
  readonly merges: number;
  readonly steps: number;
}

/**
 * @param devices - by id, those of which it is known that they will join too.
 * @param earlier - counts in totals, but for no device.
 */
export function createTally(
  devices: readonly NamedDevice[],
  earlier: Earlier = { rows: 0, merges: 0, steps: 0 },
): Tally {
  const counters: Counters[] = [];
  for (const device of devices) enter(device, null);
  let { rows, merges, steps } = earlier;

  function enter({ name, kernels }: NamedDevice, replaces: DeviceId | null): void {
    counters.push({
      device: counters.length,
      name,
      kernels,
      rows: 0,
      updates: 0,
      seconds: 0,
      batchRows: null,
      weight: null,
      leastWeight: null,
      stale: 0,
      dated: 0,
      lost: null,
      replaces,
      failures: [],
    });
  }

  function weigh(device: DeviceId, weight: number | null): void {
    const counter = counters[device]!;
    counter.weight = weight;
    if (weight !== null) counter.leastWeight = Math.min(counter.leastWeight ?? weight, weight);
  }

  function date({ device, updates, staleness }: RoundReportDevice): void {
    if (staleness === null) return;
    counters[device]!.stale += staleness * updates;
    counters[device]!.dated += updates;
  }

  return {
    rows: () => rows,
    merges: () => merges,
    steps: () => steps,
    event(event) {
      if (event.type === "lost") counters[event.device]!.lost = event.reason;
      if (event.type === "retry-failed") {
        const { device, retry, reason } = event;
        counters[device]!.failures.push(`retry ${retry} failed: ${reason}`);
      }
      if (event.type === "joined" && event.device.id === counters.length) {
        const { device, name = `device ${device.id}`, kernels = "", replaces = null } = event;
        enter({ name, kernels }, replaces?.device ?? null);
      }
      if (event.type !== "done") return;
      const counter = counters[event.device]!;
      const count = countRows(event.rows);
      rows += count;
      counter.rows += count;
      counter.seconds += event.seconds;
    },
    report(report) {
      if (report.type === "epoch") return;
      merges++;
      for (const { device, updates, nextBatchRows, weight } of report.devices) {
        steps += updates;
        counters[device]!.updates += updates;
        counters[device]!.batchRows = nextBatchRows;
        weigh(device, weight);
      }
      if (report.type === "round") report.devices.forEach(date);
    },
    summary: (usage) =>
      counters.map(({ seconds, stale, dated, failures, ...counter }) => ({
        ...counter,
        lost: counter.lost === null ? null : [counter.lost, ...failures].join("; "),
        rowsPerSecond: seconds > 0 ? counter.rows / seconds : 0,
        staleness: dated > 0 ? stale / dated : null,
        usage: usage[counter.device] ?? null,
      })),
  };
}
