import type { SpeedPlan } from "./profile.js";

/** Things that are to happen at virtual times, in the order of these; those at one time as asked. */
export interface Clock {
  /** Seconds since the run began. */
  now(): number;
  /** @param at - no earlier than now. */
  schedule(at: number, happen: () => void | Promise<void>): void;
  /** Goes on to the next thing and has it happen; false if there is none. */
  advance(): Promise<boolean>;
}

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void | Promise<void>;
}

const isBefore = (a: Entry, b: Entry) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** @param start - what it is at first, in seconds. */
export function createClock(start = 0): Clock {
  /** A heap: no entry is before its parent, at half its place. */
  const heap: Entry[] = [];
  let now = start;
  let order = 0;

  function swap(i: number, j: number): void {
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  }

  function takeFirst(): Entry | undefined {
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      if (left >= heap.length) return first;
      const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left;
      if (!isBefore(heap[child]!, heap[i]!)) return first;
      swap(i, child);
      i = child;
    }
  }

  return {
    now: () => now,
    schedule(at, happen) {
      if (!(at >= now)) throw new RangeError(`it is ${now}, too late for ${at}`);
      heap.push({ at, order: order++, happen });
      for (let i = heap.length - 1; i > 0;) {
        const parent = (i - 1) >> 1;
        if (!isBefore(heap[i]!, heap[parent]!)) break;
        swap(i, parent);
        i = parent;
      }
    },
    async advance() {
      const next = takeFirst();
      if (next === undefined) return false;
      now = next.at;
      await next.happen();
      return true;
    },
  };
}

/** When `work` seconds of work at speed 1 that begin at `from` are done. */
export function finishTime(plan: SpeedPlan, from: number, work: number): number {
  let left = work;
  let at = from;
  for (const [i, [, speed]] of plan.entries()) {
    const end = plan[i + 1]?.[0] ?? Infinity;
    if (end <= at) continue;
    const seconds = left / speed;
    if (at + seconds <= end) return at + seconds;
    left -= (end - at) * speed;
    at = end;
  }
  return at;
}
