import { createBinnedSums, type BinnedSums } from "./binned.js";
import { amountOf, numberOf, type Members } from "./event-fields.js";
import type { DeviceSeries, Usage } from "./run-series.js";
import { createThinnedSeries, type ThinnedSeries } from "./thinned.js";

/** Gathers what a run's events say of one device. */
export interface DeviceCollector {
  readonly id: number;
  readonly name: string;
  /** A batch, which took so many seconds, is done. */
  done(at: number, rows: number, seconds: number): void;
  /** A merge or round has told of its part. */
  round(at: number, rows: number, part: Members): void;
  lost(at: number, reason: string): void;
  /** What the end of the run says of it. */
  ended(usage: Usage | null): void;
  series(now: number): DeviceSeries;
}

export interface DeviceLimits {
  /** Samples of a chart's line. */
  readonly samples: number;
  /** Parts of the time for which it is known how busy the device was. */
  readonly bins: number;
}

/** What a device may take of memory, so that many take no more than a few. */
export function limitsFor(devices: number): DeviceLimits {
  return devices <= 16 ? { samples: 400, bins: 512 } : { samples: 48, bins: 128 };
}

export function createDeviceCollector(
  { id, name, kernels }: { readonly id: number; readonly name: string; readonly kernels: string },
  from: number,
  limits: DeviceLimits,
): DeviceCollector {
  const line = (): ThinnedSeries => createThinnedSeries(limits.samples);
  const [batchRows, roundUpdates, weights, staleness] = [line(), line(), line(), line()];
  const busy = createBinnedSums(limits.bins);
  let [rows, updates, busySeconds, stale, dated] = [0, 0, 0, 0, 0];
  let hasRounds = false;
  let lostAt: number | null = null;
  let reason: string | null = null;
  let usage: Usage | null = null;

  return {
    id,
    name,
    done(at, count, seconds) {
      rows += count;
      busySeconds += seconds;
      busy.add(Math.max(0, at - seconds), at, seconds);
    },
    round(at, rowsDone, part) {
      const ofRound = amountOf(part["updates"]);
      updates += ofRound;
      const add = (series: ThinnedSeries, member: string) => {
        const value = numberOf(part[member]);
        if (value !== null) series.push({ at, rows: rowsDone, value });
      };
      const first = numberOf(part["batchRows"]);
      if (!hasRounds && first !== null) batchRows.push({ at: from, rows: 0, value: first });
      hasRounds = true;
      add(batchRows, "nextBatchRows");
      roundUpdates.push({ at, rows: rowsDone, value: ofRound });
      add(weights, "weight");
      add(staleness, "staleness");
      const late = numberOf(part["staleness"]);
      if (late === null) return;
      stale += late * ofRound;
      dated += ofRound;
    },
    lost(at, why) {
      lostAt = at;
      reason = why;
    },
    ended: (told) => void (usage = told),
    series: (now) => ({
      name,
      kernels,
      rows,
      updates,
      busySeconds,
      from,
      to: lostAt ?? now,
      batchRows: batchRows.samples(),
      roundUpdates: roundUpdates.samples(),
      weights: weights.samples(),
      staleness: staleness.samples(),
      meanStaleness: dated > 0 ? stale / dated : null,
      busy: { width: busy.width(), shares: sharesOf(busy, lostAt ?? now) },
      usage,
      lost: reason,
    }),
  };
}

/** A bin that the time has not passed yet is shorter. Answers that come late together may add up to more than all. */
function sharesOf(busy: BinnedSums, now: number): readonly number[] {
  const width = busy.width();
  return busy.sums().map((sum, i) => {
    const length = Math.min(width, now - i * width);
    return length > 0 ? Math.min(1, sum / length) : 0;
  });
}
