/** Sums over equal parts of a run's time, however long it turns out to be: the parts double when they run out. */
export interface BinnedSums {
  /** Spreads an amount evenly over a span of time. A span without a length falls into one bin. */
  add(from: number, to: number, amount: number): void;
  /** Seconds of a bin. */
  width(): number;
  /** Bin `i` is of the seconds from `i · width` on. */
  sums(): readonly number[];
}

/** Below this no run is told apart: about what a small batch takes. */
const FIRST_WIDTH = 1 / 1024;

/** @param bins - at most so many; even. */
export function createBinnedSums(bins: number): BinnedSums {
  let width = FIRST_WIDTH;
  let sums: number[] = [];

  function reach(time: number): void {
    while (time >= bins * width) {
      width *= 2;
      const halves = sums;
      sums = [];
      for (let i = 0; i < halves.length; i += 2) sums.push(halves[i]! + (halves[i + 1] ?? 0));
    }
    while (sums.length * width <= time) sums.push(0);
  }

  return {
    add(from, to, amount) {
      if (!(from >= 0 && to >= from && Number.isFinite(to) && Number.isFinite(amount))) return;
      reach(to);
      const first = Math.floor(from / width);
      const last = Math.floor(to / width);
      if (first === last) {
        sums[first]! += amount;
        return;
      }
      for (let i = first; i <= last; i++) {
        const overlap = Math.min(to, (i + 1) * width) - Math.max(from, i * width);
        sums[i]! += (amount * overlap) / (to - from);
      }
    },
    width: () => width,
    sums: () => sums,
  };
}
