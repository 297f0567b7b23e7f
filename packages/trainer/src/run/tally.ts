import { countRows, type PolicyEvent, type Report } from "@heterosgd/scheduler";
import type { DeviceUsage } from "../device/api.js";

/** What a device has contributed. */
export interface DeviceSummary {
  readonly device: number;
  readonly name: string;
  readonly kernels: string;
  readonly rows: number;
  /** Batches trained on. */
  readonly updates: number;
  /** Rows a second while busy with them, a handicap's idling included; 0 if it trained on none. */
  readonly rowsPerSecond: number;
  /** Batch size and merge weight of the last merge; null before the first. */
  readonly batchRows: number | null;
  readonly weight: number | null;
  /** Smallest merge weight of all merges; null before the first. */
  readonly leastWeight: number | null;
  /** Null if the device never answered. */
  readonly usage: DeviceUsage | null;
  /** Why it was lost, null if it was not. */
  readonly lost: string | null;
}

/** Sums up a run's events by device. */
export interface Tally {
  /** Rows trained on. */
  rows(): number;
  merges(): number;
  event(event: PolicyEvent): void;
  report(report: Report): void;
  summary(usage: readonly (DeviceUsage | null)[]): DeviceSummary[];
}

type Counters = {
  -readonly [K in keyof Omit<DeviceSummary, "usage" | "rowsPerSecond">]: DeviceSummary[K];
} & { seconds: number };

export function createTally(devices: readonly { name: string; kernels: string }[]): Tally {
  const counters: Counters[] = devices.map(({ name, kernels }, device) => ({
    device,
    name,
    kernels,
    rows: 0,
    updates: 0,
    seconds: 0,
    batchRows: null,
    weight: null,
    leastWeight: null,
    lost: null,
  }));
  let rows = 0;
  let merges = 0;

  return {
    rows: () => rows,
    merges: () => merges,
    event(event) {
      if (event.type === "lost") counters[event.device]!.lost = event.reason;
      if (event.type !== "done") return;
      const counter = counters[event.device]!;
      const count = countRows(event.rows);
      rows += count;
      counter.rows += count;
      counter.updates++;
      counter.seconds += event.seconds;
    },
    report(report) {
      if (report.type !== "merge") return;
      merges++;
      for (const { device, nextBatchRows, weight } of report.devices) {
        const counter = counters[device]!;
        counter.batchRows = nextBatchRows;
        counter.weight = weight;
        counter.leastWeight = Math.min(counter.leastWeight ?? weight, weight);
      }
    },
    summary: (usage) =>
      counters.map(({ seconds, ...counter }) => ({
        ...counter,
        rowsPerSecond: seconds > 0 ? counter.rows / seconds : 0,
        usage: usage[counter.device] ?? null,
      })),
  };
}
