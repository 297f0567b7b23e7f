import type { RowRange } from "./contract.js";
import { requireOption } from "./errors.js";
import { countRows } from "./row-queue.js";

/** A learning rate as data, in terms of t, the epochs trained so far (a fraction counts). */
export type LearningRateSchedule =
  /** η(t) = rate. */
  | { readonly kind: "constant"; readonly rate: number }
  /** η(t) = rate · factor^⌊t/everyEpochs⌋. */
  | {
      readonly kind: "step";
      readonly rate: number;
      readonly everyEpochs: number;
      readonly factor: number;
    }
  /**
   * η(t) falls from `rate` to `finalRate` (0 if left out) along half a cosine over `epochs`, and
   * stays there.
   */
  | {
      readonly kind: "cosine";
      readonly rate: number;
      readonly epochs: number;
      readonly finalRate?: number;
    }
  /** η(t) = rate / (1 + decay · t). */
  | { readonly kind: "inverse"; readonly rate: number; readonly decay: number };

/** The largest rate that a schedule may have, float32's largest number: devices compute in it. */
export const largestLearningRate = 3.4028234663852886e38;

/** η(t) of the schedule after `epochs` (t, at least 0). */
export function learningRateAt(schedule: LearningRateSchedule, epochs: number): number {
  const { rate } = schedule;
  switch (schedule.kind) {
    case "constant":
      return rate;
    case "step":
      return rate * schedule.factor ** Math.floor(epochs / schedule.everyEpochs);
    case "cosine": {
      const { finalRate = 0 } = schedule;
      const done = Math.min(1, epochs / schedule.epochs);
      return finalRate + ((rate - finalRate) * (1 + Math.cos(Math.PI * done))) / 2;
    }
    case "inverse":
      return rate / (1 + schedule.decay * epochs);
  }
}

/**
 * The factor of a linear warm-up, from 0 before the first row to 1 at `warmupEpochs` and after.
 * Ask with the epochs trained at the *end* of a batch, so that the first one is not wasted on 0.
 */
export function warmupFactor(epochs: number, warmupEpochs: number): number {
  return epochs < warmupEpochs ? epochs / warmupEpochs : 1;
}

/** When which learning rate holds. */
export interface LearningRatePlan {
  readonly schedule: LearningRateSchedule;
  /** Epochs of linear warm-up, which multiplies the schedule. */
  readonly warmupEpochs: number;
}

/** η for the batch trained from `before` to `after`, both in epochs. */
export function learningRateBetween(
  { schedule, warmupEpochs }: LearningRatePlan,
  before: number,
  after: number,
): number {
  return learningRateAt(schedule, before) * warmupFactor(after, warmupEpochs);
}

/** η for a batch of these rows, of `rowsPerEpoch` an epoch. */
export function learningRateOf(
  plan: LearningRatePlan,
  rowsPerEpoch: number,
  rows: readonly RowRange[],
): number {
  const { epoch = 0, start = 0 } = rows[0] ?? {};
  const before = epoch + start / rowsPerEpoch;
  return learningRateBetween(plan, before, before + countRows(rows) / rowsPerEpoch);
}

/**
 * @throws {@link SchedulerError} `INVALID_OPTION` if a number of the schedule is out of its range.
 */
export function checkSchedule(schedule: LearningRateSchedule): void {
  const positive = (name: string, value: number) => {
    requireOption(value > 0 && value < Infinity, `schedule.${name}`, value, "a number above 0");
  };
  requireOption(
    schedule.rate > 0 && schedule.rate <= largestLearningRate,
    "schedule.rate",
    schedule.rate,
    `a number above 0 and at most ${largestLearningRate}, the largest in float32`,
  );
  switch (schedule.kind) {
    case "constant":
      break;
    case "step":
      positive("everyEpochs", schedule.everyEpochs);
      positive("factor", schedule.factor);
      break;
    case "cosine": {
      positive("epochs", schedule.epochs);
      const { finalRate = 0 } = schedule;
      requireOption(
        finalRate >= 0 && finalRate <= schedule.rate,
        "schedule.finalRate",
        finalRate,
        `between 0 and the rate, ${schedule.rate}`,
      );
      break;
    }
    case "inverse": {
      const { decay } = schedule;
      requireOption(decay >= 0 && decay < Infinity, "schedule.decay", decay, "0 or more");
      break;
    }
  }
}
