/** Node takes a longer delay for one of 1 ms. */
export const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** A wait that may end by itself or because it has lasted too long. */
export interface TimeLimit {
  /** The wait has ended. */
  end(): void;
}

/** Limits to how long waits last, all on one timer: setting one for each costs more than the wait. */
export interface TimeLimits {
  /**
   * Begins a wait. After `ms` (at most `LONGEST_DELAY_MS`) `expire` is called, unless the wait has
   * ended. A limit that comes due while the whole process is stopped starts again.
   */
  begin(ms: number, expire: (ms: number) => void): TimeLimit;
}

export function createTimeLimits(): TimeLimits {
  const waits = new Set<{ due: number; readonly delay: number; expire(): void }>();
  let timer: NodeJS.Timeout | undefined;
  let timerDue = Infinity;

  function arm(due: number, now: number): void {
    clearTimeout(timer);
    timerDue = due;
    // The difference of two large numbers may be a little more than what was added.
    timer = setTimeout(look, Math.min(Math.max(0, due - now), LONGEST_DELAY_MS));
  }

  function disarm(): void {
    clearTimeout(timer);
    timer = undefined;
    timerDue = Infinity;
  }

  function look(): void {
    disarm();
    const now = performance.now();
    for (const wait of waits) {
      if (wait.due > now) continue;
      // So late: the whole process was stopped, and whatever is waited for with it.
      if (now - wait.due > wait.delay / 2) wait.due = now + wait.delay;
      else {
        waits.delete(wait);
        wait.expire();
      }
    }
    let earliest = Infinity;
    for (const { due } of waits) earliest = Math.min(earliest, due);
    if (earliest < timerDue) arm(earliest, performance.now());
  }

  return {
    begin(ms, expire) {
      const delay = Math.min(ms, LONGEST_DELAY_MS);
      const now = performance.now();
      const wait = { due: now + delay, delay, expire: () => expire(delay) };
      waits.add(wait);
      if (wait.due < timerDue) arm(wait.due, now);
      return {
        end() {
          // A timer without waits would keep the process alive.
          if (waits.delete(wait) && waits.size === 0) disarm();
        },
      };
    },
  };
}
