/** How long a device may take to answer before it is given up. */
export interface PaceLimits {
  /** As long as nothing of it was measured, in ms. Default 600,000. */
  readonly firstMs?: number;
  /** At least, in ms. Default 60,000. */
  readonly leastMs?: number;
  /** So many times its own slowest pace, over all rows in its queue. Default 20. */
  readonly factor?: number;
}

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

export function createPace({
  firstMs = 600_000,
  leastMs = 60_000,
  factor = 20,
}: PaceLimits = {}): Pace {
  let slowest = 0;
  let queued = 0;
  return {
    begin(rows) {
      queued += rows;
      if (slowest === 0) return firstMs;
      return Math.max(leastMs, factor * 1000 * slowest * queued);
    },
    end(rows) {
      queued -= rows;
    },
    measured(rows, seconds) {
      if (rows > 0) slowest = Math.max(slowest, seconds / rows);
    },
  };
}
