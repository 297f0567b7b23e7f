const MINIMUM_MS = 60_000;
/** Before anything was measured a batch may take this long. */
const FIRST_MS = 600_000;
/** How many times its own usual time a device may take before it is given up. */
const PATIENCE = 20;

/** A device's measured speed, from which follows how long an answer may take. */
export interface Pace {
  /**
   * A call over `rows` rows (0 for a call that has none) joins the device's queue; returns its
   * time-out in ms.
   */
  begin(rows: number): number;
  end(rows: number): void;
  measured(rows: number, seconds: number): void;
}

export function createPace(): Pace {
  let slowest = 0;
  let queued = 0;
  return {
    begin(rows) {
      queued += rows;
      if (slowest === 0) return FIRST_MS;
      return Math.max(MINIMUM_MS, PATIENCE * 1000 * slowest * queued);
    },
    end(rows) {
      queued -= rows;
    },
    measured(rows, seconds) {
      if (rows > 0) slowest = Math.max(slowest, seconds / rows);
    },
  };
}
