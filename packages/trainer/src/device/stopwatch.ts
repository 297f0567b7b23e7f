import type { DeviceUsage } from "./api.js";

export type Activity = Exclude<keyof DeviceUsage, "waiting">;

/**
 * Splits a device's time, from its first activity on, into activities and the waiting between them.
 */
export interface Stopwatch {
  begin(): void;
  /** Ends what `begin` began; returns its seconds. */
  end(activity: Activity): number;
  usage(): DeviceUsage;
}

/** @param now - the time in seconds, from any origin. */
export function createStopwatch(now: () => number): Stopwatch {
  const spent = { training: 0, merging: 0, evaluating: 0, waiting: 0 };
  let idleSince: number | null = null;
  let began = 0;
  return {
    begin() {
      began = now();
      spent.waiting += began - (idleSince ?? began);
    },
    end(activity) {
      idleSince = now();
      const seconds = idleSince - began;
      spent[activity] += seconds;
      return seconds;
    },
    usage: () => ({ ...spent }),
  };
}
