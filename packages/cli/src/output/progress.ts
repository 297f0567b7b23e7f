/** Follows a run by its events: what the status rows and progress lines show. */
import type { Metrics } from "@heterosgd/model";
import { algorithms } from "@heterosgd/scheduler";
import type { RunEvent } from "@heterosgd/trainer";

/** What bounds the run. */
export interface ProgressLimits {
  readonly rows: number;
  readonly epochs: number;
  readonly maxSteps: number | null;
  readonly maxSeconds: number | null;
  /** Whether evaluations come while it runs. */
  readonly evaluates: boolean;
  /** Whether its seconds are a simulator's. */
  readonly isSimulated: boolean;
}

export interface DeviceProgress {
  readonly name: string;
  /** Rows of its latest batch, null before it is known. */
  readonly batchRows: number | null;
  readonly rowsPerSecond: number;
  /** Of all rows trained on, 0 to 1. */
  readonly share: number;
  /** Part of the time in which it trained, 0 to 1. */
  readonly busy: number;
  readonly lost: boolean;
}

export interface Snapshot {
  readonly seconds: number;
  readonly isSimulated: boolean;
  /** Counts from 1. */
  readonly epoch: number;
  readonly epochs: number;
  /** How much is done, 0 to 1. */
  readonly done: number;
  readonly rowsPerSecond: number;
  /** Mean of the latest rows' losses, null before the first. */
  readonly loss: number | null;
  /** Of the latest evaluation. */
  readonly metrics: Metrics | null;
  /** Null as long as there is nothing to tell it by. */
  readonly secondsLeft: number | null;
  readonly devices: readonly DeviceProgress[];
}

export interface Progress {
  event(event: RunEvent): void;
  /** @param seconds - since the run began. */
  snapshot(seconds: number): Snapshot;
}

interface Totals {
  readonly at: number;
  rows: number;
  loss: number;
  readonly devices: { rows: number; seconds: number }[];
}

/** Rates and losses are means of this many seconds. */
const WINDOW_SECONDS = 10;
const SAMPLE_SECONDS = 0.5;

export function createProgress(limits: ProgressLimits): Progress {
  const { rows, epochs, maxSteps, maxSeconds, isSimulated } = limits;
  let names: string[] = [];
  let batches: (number | null)[] = [];
  /** Whether what a device is sent at a time is many batches, of which reports tell. */
  let sendsMessages = false;
  let lost: boolean[] = [];
  let batchesDone = 0;
  /** A batch may be many updates, of which a report tells. */
  let updates = 0;
  let began = 0;
  /** Rows of earlier parts of a resumed run, which are no device's of this one. */
  let earlierRows = 0;
  let metrics: Metrics | null = null;
  let now: Totals = { at: 0, rows: 0, loss: 0, devices: [] };
  /** Earlier totals, oldest first. */
  let samples: Totals[] = [];

  function sample(at: number): void {
    if (at - (samples.at(-1)?.at ?? 0) < SAMPLE_SECONDS) return;
    samples.push({ ...now, at, devices: now.devices.map((device) => ({ ...device })) });
    while (samples.length > 2 && at - samples[1]!.at >= WINDOW_SECONDS) samples.shift();
  }

  return {
    event(event) {
      switch (event.type) {
        case "start":
        case "resume":
          names = event.devices.map(({ name }) => name);
          batches = names.map(() => null);
          sendsMessages = Object.hasOwn(algorithms[event.algorithm]?.options ?? {}, "messageRows");
          lost = names.map(() => false);
          // Of a resumed run the seconds go on.
          began = event.type === "resume" ? 0 : event.at;
          earlierRows = event.type === "resume" ? event.rows : 0;
          updates = event.type === "resume" ? event.step : 0;
          batchesDone = updates;
          now = {
            at: event.at,
            rows: earlierRows,
            loss: 0,
            devices: names.map(() => ({ rows: 0, seconds: 0 })),
          };
          samples = [{ ...now, devices: now.devices.map((device) => ({ ...device })) }];
          break;
        case "done": {
          sample(event.at);
          const count = event.rows.reduce((sum, range) => sum + range.count, 0);
          const device = now.devices[event.device];
          if (device === undefined) break;
          now.rows += count;
          now.loss += event.loss;
          device.rows += count;
          device.seconds += event.seconds;
          if (!sendsMessages) batches[event.device] = count;
          batchesDone++;
          break;
        }
        case "joined":
          // Others are known from the start.
          if (event.device.id !== names.length) break;
          names.push(event.name ?? `device ${event.device.id}`);
          batches.push(null);
          lost.push(false);
          now.devices.push({ rows: 0, seconds: 0 });
          break;
        case "lost":
          lost[event.device] = true;
          break;
        case "merge":
        case "round":
          for (const { device, updates: made, nextBatchRows } of event.devices) {
            updates += made;
            if (sendsMessages) batches[device] = nextBatchRows;
          }
          break;
        case "evaluation":
          metrics = event.metrics;
          break;
        default:
      }
    },

    snapshot(seconds) {
      const from = samples[0] ?? now;
      const elapsed = Math.max(seconds - from.at, 0.001);
      const recent = now.rows - from.rows;
      const total = seconds - began;
      const done = Math.min(
        1,
        Math.max(
          now.rows / (rows * epochs),
          maxSteps === null ? 0 : Math.max(batchesDone, updates) / maxSteps,
          maxSeconds === null ? 0 : seconds / maxSeconds,
        ),
      );
      return {
        seconds,
        isSimulated,
        epoch: Math.min(epochs, Math.floor(now.rows / rows) + 1),
        epochs,
        done,
        rowsPerSecond: recent / elapsed,
        loss: recent > 0 ? (now.loss - from.loss) / recent : null,
        metrics,
        secondsLeft: done > 0 && now.rows > 0 ? (total * (1 - done)) / done : null,
        devices: names.map((name, id) => {
          const device = now.devices[id]!;
          const before = from.devices[id] ?? { rows: 0, seconds: 0 };
          const busy = device.seconds - before.seconds;
          return {
            name,
            batchRows: batches[id] ?? null,
            rowsPerSecond: (device.rows - before.rows) / elapsed,
            share: now.rows > earlierRows ? device.rows / (now.rows - earlierRows) : 0,
            busy: Math.min(1, busy / elapsed),
            lost: lost[id]!,
          };
        }),
      };
    },
  };
}
