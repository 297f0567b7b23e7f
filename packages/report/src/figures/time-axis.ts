import { timeUnit } from "../words.js";
import type { Axis } from "./figure.js";

/** The axis of a run's time, and what turns seconds into its unit. */
export interface TimeAxis {
  readonly axis: Axis;
  readonly of: (seconds: number) => number;
}

/** @param most - seconds, the longest that is shown. */
export function timeAxis(most: number, isSimulated: boolean): TimeAxis {
  const { unit, seconds } = timeUnit(most);
  return {
    axis: {
      label: `${isSimulated ? "simulated time" : "time"} (${unit})`,
      zero: true,
      to: most / seconds,
    },
    of: (value) => value / seconds,
  };
}

/** What stands below charts whose times are not those of a clock. */
export function simulatedWords(isSimulated: boolean): string {
  return isSimulated ? " All times are simulated." : "";
}
