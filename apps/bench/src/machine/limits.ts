/** What the machine can do at most, measured beside the kernels and in the same rounds. */
import type { Helpers } from "./helpers.js";

/** One limit, one figure a round. */
export interface LimitMeter {
  readonly name: string;
  readonly unit: "GFLOP/s" | "GB/s";
  /** Measures once. */
  readonly measure: () => number;
}

/** Floats of each stream: far more than caches hold. */
const STREAM = 32 * 2 ** 20;

/**
 * The rate at which one core multiplies and adds, for each instruction set, the widest first, and
 * the bandwidth of the memory from one core, all by the calling thread's processor time.
 */
export function limitMeters(helpers: Helpers): readonly LimitMeter[] {
  return [...peakMeters(helpers), ...bandwidthMeters(helpers)];
}

/** The first of them. */
export function peakMeters({ peaks, threadSeconds }: Helpers): readonly LimitMeter[] {
  return [...peaks].map(([isa, run]): LimitMeter => {
    let rounds = 1_000_000;
    return {
      name: peakName(isa),
      unit: "GFLOP/s",
      measure() {
        const began = threadSeconds();
        const operations = run(rounds);
        const seconds = threadSeconds() - began;
        // As many the next time as take 10 ms.
        rounds = Math.ceil((rounds * 0.01) / seconds);
        return operations / seconds / 1e9;
      },
    };
  });
}

function bandwidthMeters({ take, threadSeconds, ...memory }: Helpers): readonly LimitMeter[] {
  const [a, b, c] = [take(STREAM), take(STREAM), take(STREAM)];
  const bytes = 4 * STREAM;
  const streams = [
    ["read", 1, () => memory.read(a, STREAM)],
    ["read and write", 2, () => memory.readWrite(a, STREAM)],
    ["triad", 3, () => memory.triad(a, b, c, STREAM)],
  ] as const;
  return streams.map(([name, passes, work]): LimitMeter => ({
    name,
    unit: "GB/s",
    measure() {
      const began = threadSeconds();
      work();
      return (passes * bytes) / (threadSeconds() - began) / 1e9;
    },
  }));
}

/** What the peak of an instruction set is called among the limits. */
export function peakName(isa: string): string {
  return `peak ${isa}`;
}
