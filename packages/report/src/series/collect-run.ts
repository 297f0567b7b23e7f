import { createBinnedSums } from "./binned.js";
import {
  createDeviceCollector,
  limitsFor,
  type DeviceCollector,
  type DeviceLimits,
} from "./device-collector.js";
import {
  amountOf,
  listOf,
  membersOf,
  numberOf,
  numbersOf,
  textOf,
  type Members,
} from "./event-fields.js";
import type { Evaluation, Mark, RunSeries, SimulatedBy, Usage } from "./run-series.js";
import { thin, type Sample } from "./thinned.js";

/** Gathers a run's events, one after another, into what charts show of it. */
export interface RunCollector {
  /**
   * Takes a line of `events.jsonl` (`RunEvent` of `@heterosgd/trainer`), of which only what charts need is
   * looked at; what is not understood is passed over.
   *
   * @returns whether it was an event at all.
   */
  event(value: unknown): boolean;
  /** What is known until now; may be asked for again and again while the run goes on. */
  series(): RunSeries;
}

const MOST_DEVICES = 2048;
const MOST_MARKS = 200;
const MOST_EVALUATIONS = 600;
const LOSS_BINS = 256;

const afterwards = new Set(["saved", "not-saved", "end"]);

/**
 * A collector whose memory does not grow with the run: of long series it keeps what a chart can show, extremes
 * included.
 *
 * @param name - what charts call the run.
 */
export function collectRun(name: string): RunCollector {
  let start: Members = {};
  let origin: number | null = null;
  let [now, rows, rounds, usageSince] = [0, 0, 0, 0];
  let reason: string | null = null;
  let evaluations: Evaluation[] = [];
  const marks: Mark[] = [];
  const all: DeviceCollector[] = [];
  let present = new Map<number, DeviceCollector>();
  let limits: DeviceLimits = limitsFor(0);
  const losses = createBinnedSums(LOSS_BINS);
  const lossRows = createBinnedSums(LOSS_BINS);

  function mark(kind: Mark["kind"], text: string): void {
    if (marks.length < MOST_MARKS) marks.push({ at: now, kind, text });
  }

  function enter(device: Members, id: number): void {
    if (all.length >= MOST_DEVICES || !Number.isSafeInteger(id)) return;
    const told = { id, name: textOf(device["name"]), kernels: textOf(device["kernels"]) };
    const collector = createDeviceCollector(
      told.name === "" ? { ...told, name: `device ${id}` } : told,
      now,
      limits,
    );
    all.push(collector);
    present.set(id, collector);
  }

  function begin(event: Members): void {
    if (origin === null) start = event;
    const devices = listOf(event["devices"]).map(membersOf);
    limits = limitsFor(all.length + devices.length);
    const before = present;
    present = new Map();
    for (const device of devices) {
      // In a simulation it may join later, and says so then.
      if (numberOf(device["joins"]) !== null) continue;
      const id = numberOf(device["device"]) ?? -1;
      const same = before.get(id);
      // A run that is resumed on other devices gives their numbers anew.
      if (same !== undefined && same.name === textOf(device["name"])) present.set(id, same);
      else enter(device, id);
    }
  }

  const takers: Readonly<Record<string, (event: Members, at: number) => void>> = {
    start(event, at) {
      if (origin !== null) return;
      begin(event);
      origin = at;
      now = 0;
    },
    resume(event, at) {
      begin(event);
      rows = numberOf(event["rows"]) ?? rows;
      rounds = numberOf(event["merges"]) ?? rounds;
      usageSince = at - (origin ?? at);
      origin ??= at;
      reason = null;
      mark("resumed", `resumed from ${textOf(event["checkpoint"])}`);
    },
    done(event) {
      const count = listOf(event["rows"]).reduce<number>(
        (sum, range) => sum + amountOf(membersOf(range)["count"]),
        0,
      );
      const seconds = amountOf(event["seconds"]);
      rows += count;
      present.get(numberOf(event["device"]) ?? -1)?.done(now, count, seconds);
      const loss = numberOf(event["loss"]);
      if (loss === null) return mark("diverged", "a loss that is not finite");
      const from = Math.max(0, now - seconds);
      losses.add(from, now, loss);
      lossRows.add(from, now, count);
    },
    merge: round,
    round,
    evaluation(event) {
      const metrics = membersOf(event["metrics"]);
      const [cutoffs, precision] = [numbersOf(metrics["cutoffs"]), numbersOf(metrics["precision"])];
      if (cutoffs.length === 0 || precision.length < cutoffs.length) return;
      const ndcg = numbersOf(metrics["ndcg"]);
      evaluations.push({ at: now, rows: amountOf(event["rows"]), cutoffs, precision, ndcg });
      if (evaluations.length >= 2 * MOST_EVALUATIONS) evaluations = [...thinEvaluations()];
    },
    joined(event) {
      const id = numberOf(membersOf(event["device"])["id"]) ?? -1;
      const known = listOf(start["devices"]).map(membersOf);
      const named = known.find((device) => device["device"] === id) ?? {};
      enter({ ...named, ...event }, id);
      mark("joined", `${present.get(id)?.name ?? `device ${id}`} joined`);
    },
    lost(event) {
      const device = present.get(numberOf(event["device"]) ?? -1);
      if (device === undefined) return;
      device.lost(now, textOf(event["reason"]));
      mark("lost", `${device.name} lost`);
    },
    end(event) {
      reason = textOf(event["reason"]);
      for (const device of listOf(event["devices"]).map(membersOf)) {
        present.get(numberOf(device["device"]) ?? -1)?.ended(usageOf(device["usage"]));
      }
    },
  };

  function round(event: Members): void {
    rounds++;
    for (const part of listOf(event["devices"]).map(membersOf)) {
      present.get(numberOf(part["device"]) ?? -1)?.round(now, rows, part);
    }
  }

  function thinEvaluations(): readonly Evaluation[] {
    return thin(evaluations, MOST_EVALUATIONS, ({ at, precision }) => ({
      at,
      value: precision[0]!,
    }));
  }

  function lossSamples(): readonly Sample[] {
    const [width, counts] = [lossRows.width(), lossRows.sums()];
    let done = 0;
    return losses.sums().flatMap((sum, i) => {
      const count = counts[i]!;
      done += count;
      if (count === 0) return [];
      const at = Math.min(now, (i + 0.5) * width);
      return [{ at, rows: done, value: sum / count }];
    });
  }

  return {
    event(value) {
      const event = membersOf(value);
      const [at, type] = [numberOf(event["at"]), event["type"]];
      if (at === null || typeof type !== "string") return false;
      // What comes after training, such as waiting for the last checkpoint, is not on its charts.
      if (!afterwards.has(type)) now = Math.max(now, at - (origin ?? at));
      if (Object.hasOwn(takers, type)) takers[type]!(event, at);
      return true;
    },
    series: () => ({
      name,
      algorithm: textOf(start["algorithm"]),
      seed: numberOf(start["seed"]),
      simulated: simulatedBy(start["simulated"]),
      network: networkOf(start["shape"]),
      trainRows: amountOf(start["trainRows"]),
      evaluationRows: amountOf(start["evaluationRows"]),
      parameters: amountOf(start["parameters"]),
      seconds: now,
      rows,
      rounds,
      reason,
      evaluations: thinEvaluations(),
      loss: lossSamples(),
      devices: all.map((device) => device.series(now)),
      marks: [...marks],
      usageSince,
    }),
  };
}

function usageOf(value: unknown): Usage | null {
  if (typeof value !== "object" || value === null) return null;
  const usage = membersOf(value);
  return {
    training: amountOf(usage["training"]),
    merging: amountOf(usage["merging"]),
    evaluating: amountOf(usage["evaluating"]),
    waiting: amountOf(usage["waiting"]),
  };
}

function simulatedBy(value: unknown): SimulatedBy | null {
  if (typeof value !== "object" || value === null) return null;
  const { profile, measured } = membersOf(value);
  return { profile: textOf(profile), measured: measured === true };
}

function networkOf(value: unknown): string {
  const shape = membersOf(value);
  const sizes = [shape["features"], ...listOf(shape["hidden"]), shape["labels"]].map(numberOf);
  if (sizes.length > 32 || sizes.includes(null)) return "";
  const words = sizes.map((size) => size!.toLocaleString("en-US")).join(" – ");
  return [words, textOf(shape["activation"]), textOf(shape["loss"])].filter(Boolean).join(", ");
}
