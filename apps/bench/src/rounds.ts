/**
 * Measures several things round by round, each in every round, so that what else the machine does
 * meanwhile falls on all of them alike.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** One of those that are compared. */
export interface Contestant {
  readonly name: string;
  /** Threads that work at once. */
  readonly threads: number;
  readonly run: () => void | Promise<void>;
}

/** Seconds that one run took, in one round. */
export interface Timing {
  readonly wall: number;
  /** Processor time of the calling thread, null where it cannot be had. */
  readonly thread: number | null;
}

export interface RoundsOptions {
  /** After one that does not count. */
  readonly rounds: number;
  /** Processor time of the calling thread in seconds, null where it cannot be had. */
  readonly threadSeconds: (() => number) | null;
  /** Told before each round that counts. */
  readonly onRound?: (round: number) => void;
  /** How long a contestant runs in a round, at least once. Default 0.05. */
  readonly seconds?: number;
}

/** What takes longer runs in the first few rounds only. */
const SLOW_SECONDS = 1;
const SLOW_ROUNDS = 3;
/** How long threads that have nothing more to do may spin before they sleep. */
export const CALM_MS = 60;

/** Timings of the contestants, in their order: one a round, fewer for slow ones. */
export async function interleave(
  contestants: readonly Contestant[],
  { rounds, threadSeconds, onRound, seconds = 0.05 }: RoundsOptions,
): Promise<readonly (readonly Timing[])[]> {
  const time = async ({ run, threads }: Contestant, runs: number): Promise<Timing> => {
    const beganThread = threadSeconds?.() ?? 0;
    const began = performance.now();
    for (let i = 0; i < runs; i++) await run();
    const wall = (performance.now() - began) / 1000 / runs;
    const thread = threadSeconds === null ? null : (threadSeconds() - beganThread) / runs;
    if (threads > 1) await sleep(CALM_MS);
    return { wall, thread };
  };
  const first: Timing[] = [];
  for (const contestant of contestants) {
    const cold = await time(contestant, 1);
    first.push(cold.wall > SLOW_SECONDS ? cold : await time(contestant, 1));
  }
  const timings: Timing[][] = contestants.map(() => []);
  for (let round = 0; round < rounds; round++) {
    onRound?.(round);
    for (const position of orderOf(round, contestants.length)) {
      const { wall } = first[position]!;
      if (wall > SLOW_SECONDS && round >= SLOW_ROUNDS) continue;
      const runs = Math.max(1, Math.ceil(seconds / wall));
      timings[position]!.push(await time(contestants[position]!, runs));
    }
  }
  return timings;
}

/** Every other round backwards: nobody always runs in the wake of the same one. */
export function orderOf(round: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => (round % 2 === 0 ? i : count - 1 - i));
}
