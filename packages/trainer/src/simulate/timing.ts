/** How long devices take, from their profile. */
import { createRandom, restoreRandom } from "@heterosgd/sparse";
import type { ModelShape } from "@heterosgd/model";
import { finishTime } from "./clock.js";
import type { KindProfile, Link, Profile, ProfileDevice, SpeedPlan } from "./profile.js";

export interface Work {
  readonly rows: number;
  readonly nonZeros: number;
  /** Updates that it makes, as many at once as there are threads. */
  readonly updates: number;
}

export interface Timing {
  readonly threads: number;
  readonly link: Link;
  /** When training that begins at `from` is done; draws its jitter. */
  finish(from: number, work: Work): number;
  /** Seconds at its first speed, without jitter. */
  seconds(work: Work): number;
  /** State of the random numbers of its jitter. */
  random(): readonly number[];
}

/** Tells the random numbers of jitter from all others of a run's seed. */
const JITTER_STREAM = 71;

/** Products of a row in dense layers. */
function denseProducts(hidden: readonly number[], labels: number): number {
  const widths = [...hidden, labels];
  return widths.slice(1).reduce((sum, width, i) => sum + width * widths[i]!, 0);
}

/** The kind's times for this network. */
export function scaledKind(
  kind: KindProfile,
  network: Profile["network"],
  { hidden, labels }: ModelShape,
): Required<Pick<KindProfile, "fixed" | "perUpdate" | "perRow" | "perNonZero">> {
  const { fixed, perUpdate = 0, perRow, perNonZero } = kind;
  if (network === undefined) return { fixed, perUpdate, perRow, perNonZero };
  const dense = denseProducts(hidden, labels) / denseProducts(network.hidden, network.labels);
  const first = hidden[0]! / network.hidden[0]!;
  return {
    fixed,
    perUpdate: perUpdate * dense,
    perRow: perRow * dense,
    perNonZero: perNonZero * first,
  };
}

/**
 * @param id - the device's, which has a sequence of jitter of its own.
 * @param random - the state that the sequence goes on from; null for its beginning.
 */
export function createTiming(
  profile: Profile,
  device: ProfileDevice,
  shape: ModelShape,
  {
    seed,
    id,
    random: state = null,
  }: { readonly seed: number; readonly id: number; readonly random?: readonly number[] | null },
): Timing {
  const kind = profile.kinds[device.kind]!;
  const { jitter = 0, link = profile.link } = kind;
  const threads = device.threads ?? kind.threads ?? 1;
  const { fixed, perUpdate, perRow, perNonZero } = scaledKind(kind, profile.network, shape);
  const random = state === null ? createRandom(seed, JITTER_STREAM, id) : restoreRandom(state);
  const { speed = 1 } = device;
  const plan: SpeedPlan = typeof speed === "number" ? [[0, speed]] : speed;
  const work = ({ rows, nonZeros, updates }: Work) =>
    (fixed + perUpdate) * Math.ceil(updates / threads) + perRow * rows + perNonZero * nonZeros;
  return {
    threads,
    link,
    finish: (from, batch) =>
      finishTime(plan, from, work(batch) * (1 + jitter * (2 * random.nextFloat() - 1))),
    seconds: (batch) => work(batch) / plan[0]![1],
    random: () => random.state(),
  };
}

/** Seconds that so many bytes take. */
export function transferSeconds({ latency, bandwidth }: Link, bytes: number): number {
  return latency + bytes / bandwidth;
}
