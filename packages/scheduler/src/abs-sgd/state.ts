import type { ModelName, RoundReport, RowRange } from "../contract.js";
import type { CheckedDevice } from "../common/devices.js";
import type { Run } from "../common/run.js";
import { giveBackRows } from "../row-queue.js";

/** A gradient's sum, as far as the policy knows it. */
export interface Accumulator {
  readonly rows: readonly RowRange[];
  readonly microBatches: number;
  /** t of the w_t that it is the gradient at, -1 before the device has pulled any. */
  readonly at: number;
  readonly seconds: number;
}

export interface AbsSgdDevice extends CheckedDevice {
  /** Which of its two accumulators is being filled. */
  readonly filling: 0 | 1;
  /** (G_i, m_i), without the micro-batches in flight. */
  readonly filled: Accumulator;
  /** The micro-batches in flight, in the order in which they were given. */
  readonly working: readonly (readonly RowRange[])[];
  /** How many of them, the first ones, belong to the frozen sum. */
  readonly freezing: number;
  /**
   * (S_i, c_i) of this round, without micro-batches in flight; null before it freezes, empty if it
   * has nothing to add.
   */
  readonly frozen: Accumulator | null;
  /** Pushes that it hasn't answered. */
  readonly pushes: number;
  /** Lost while its sum is reduced, which counts. */
  readonly lost: boolean;
}

/** The state of ABS-SGD, plain JSON. */
export interface AbsSgdState extends Run {
  /** In the order of joining. */
  readonly devices: readonly AbsSgdDevice[];
  /** Devices that take part once no reduction is under way. */
  readonly joined: readonly CheckedDevice[];
  /** What is reported when the reduction under way is done; null if none is. */
  readonly reducing: RoundReport | null;
  /**
   * Why nothing is handed out or frozen, null if all go on: the model is to be evaluated, it is to be
   * saved, or the sums that are saved with it are being pushed.
   */
  readonly pausing: "evaluate" | "save" | "push" | null;
  /** Rows in the model, all epochs together. */
  readonly trained: number;
  /** η of the latest update, 0 before the first. */
  readonly learningRate: number;
}

export const emptyAccumulator: Accumulator = { rows: [], microBatches: 0, at: -1, seconds: 0 };

/** The accumulator that the device fills, and the one that is frozen. */
export function accumulatorsOf({
  id,
  filling,
}: Pick<AbsSgdDevice, "id" | "filling">): readonly [ModelName, ModelName] {
  return [`gradient:${id}:${filling}`, `gradient:${id}:${filling === 0 ? 1 : 0}`];
}

/** Rows that the device was given and that are in no update that is made or under way. */
export function rowsPending({ filled, working }: AbsSgdDevice): readonly RowRange[] {
  return [...filled.rows, ...working.flat()];
}

/** Takes all back that the devices have of these. */
export function giveBack(
  state: AbsSgdState,
  devices: readonly AbsSgdDevice[],
  what: (device: AbsSgdDevice) => readonly RowRange[],
): AbsSgdState {
  return { ...state, queue: giveBackRows(state.queue, devices.flatMap(what)) };
}

/** Everything that a device has and the model has not. */
export function allRows(device: AbsSgdDevice): readonly RowRange[] {
  return [...(device.frozen?.rows ?? []), ...rowsPending(device)];
}
