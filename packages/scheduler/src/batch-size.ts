import { leastRows } from "./step-cost.js";
import { requireOption } from "./errors.js";

/** How batch sizes move after a mega-batch. Each rule has one constant, with a default. */
export type BatchScaling =
  /**
   * Ours. `gain` is κ, above 0 and at most 1. `throughput`, from 0 to below 1, is the share of the
   * rows a second at b_max that a device keeps, however small its batches become.
   */
  | { readonly rule: "relative"; readonly gain?: number; readonly throughput?: number }
  /** Paper A's. `step` is β in rows, b_min/2 if left out. */
  | { readonly rule: "proportional"; readonly step?: number }
  /** The authors' code's. `step` is β in rows, 32 if left out. */
  | { readonly rule: "fixed"; readonly step?: number }
  /** Sizes stay as they are. */
  | { readonly rule: "off" };

type RelativeScaling = Extract<BatchScaling, { rule: "relative" }>;

/** b_min and b_max, whole rows. */
export interface BatchBounds {
  readonly min: number;
  readonly max: number;
}

/** What the rules know of a device. */
export interface SizedDevice {
  /**
   * b_i, not rounded: a device gets `Math.round` of it, but the rules work on the fraction, so that
   * steps of less than half a row add up instead of being lost.
   */
  readonly batchRows: number;
  /** u_i, its updates in the mega-batch. */
  readonly updates: number;
  /** What its memory holds. */
  readonly maxBatchRows: number;
  /** The fixed part of a step, as the rows that take as long. */
  readonly fixedRows: number;
}

/** The nearest value within the bounds. */
export function clamp(value: number, { min, max }: BatchBounds): number {
  return Math.min(max, Math.max(min, value));
}

/** The bounds of one device: b_min and b_max, but never above what its memory holds. */
export function boundsFor(bounds: BatchBounds, maxBatchRows: number): BatchBounds {
  const max = Math.min(bounds.max, maxBatchRows);
  return { min: Math.min(bounds.min, max), max };
}

/**
 * The devices' batch sizes after a mega-batch, each within its bounds, not rounded. Without any
 * update they stay as they are.
 */
export function scaleBatches(
  scaling: BatchScaling,
  devices: readonly SizedDevice[],
  bounds: BatchBounds,
): readonly number[] {
  const updates = devices.reduce((sum, device) => sum + device.updates, 0);
  if (scaling.rule === "off" || updates === 0) return devices.map((device) => device.batchRows);
  const mean = updates / devices.length;
  switch (scaling.rule) {
    case "relative":
      return relative(devices, bounds, mean, scaling);
    case "proportional":
      return proportional(devices, bounds, mean, scaling.step ?? bounds.min / 2);
    case "fixed":
      return fixed(devices, bounds, mean, scaling.step ?? defaultFixedStep);
  }
}

/**
 * κ. With 1 a single noisy mega-batch decides; with 0.5 five of them don't settle devices at 1 :
 * 0.5.
 */
export const defaultGain = 0.75;
/**
 * A device may shrink to b_max/2 where a ninth of a step of b_max rows is fixed cost, and keeps
 * 0.9·b_max where all of it is.
 */
export const defaultThroughput = 0.9;
const defaultFixedStep = 32;

/**
 * `b' = b (1 + κ (u − ū)/ū)`, then all sizes by one common factor, so that the largest is as large
 * as its device's bounds let it be. Only the sizes' ratios decide who makes how many updates. If
 * each were clamped by itself, a fast device at b_max could not grow, which would halve the rule's
 * speed, and every random excess would shrink the others without ever growing them again.
 *
 * No device shrinks to where it trains less than `throughput` of the rows a second that it does at
 * its largest batch. It makes fewer updates than others instead: smaller batches would cost it more
 * rows than they bring it updates.
 */
function relative(
  devices: readonly SizedDevice[],
  bounds: BatchBounds,
  mean: number,
  { gain = defaultGain, throughput = defaultThroughput }: RelativeScaling,
): readonly number[] {
  const wanted = devices.map(
    ({ batchRows, updates }) => batchRows * (1 + (gain * (updates - mean)) / mean),
  );
  const own = devices.map((device) => boundsFor(bounds, device.maxBatchRows));
  const factor = Math.min(...own.map(({ max }, i) => max / (wanted[i] ?? 0)));
  return own.map(({ min, max }, i) => {
    const least = leastRows(devices[i]?.fixedRows ?? 0, throughput, max);
    return clamp((wanted[i] ?? 0) * factor, { min: Math.max(min, least), max });
  });
}

/** `b' = b + β (u − ū)`, kept as it is if that lies outside the bounds. Source: paper A. */
function proportional(
  devices: readonly SizedDevice[],
  bounds: BatchBounds,
  mean: number,
  step: number,
): readonly number[] {
  return devices.map(({ batchRows, updates, maxBatchRows }) => {
    const { min, max } = boundsFor(bounds, maxBatchRows);
    const wanted = batchRows + step * (updates - mean);
    return wanted >= min && wanted <= max ? wanted : batchRows;
  });
}

/**
 * `b' = b ± β` towards equal updates, clamped (our choice). Source: the code of paper A's authors.
 */
function fixed(
  devices: readonly SizedDevice[],
  bounds: BatchBounds,
  mean: number,
  step: number,
): readonly number[] {
  return devices.map(({ batchRows, updates, maxBatchRows }) => {
    const wanted = batchRows + step * Math.sign(updates - mean);
    return clamp(wanted, boundsFor(bounds, maxBatchRows));
  });
}

/**
 * @throws {@link SchedulerError} `INVALID_OPTION` if the rule's constant is out of its range.
 */
export function checkScaling(scaling: BatchScaling): void {
  if (scaling.rule === "relative") {
    const { gain = defaultGain, throughput = defaultThroughput } = scaling;
    requireOption(gain > 0 && gain <= 1, "batchScaling.gain", gain, "above 0 and at most 1");
    const isShare = throughput >= 0 && throughput < 1;
    requireOption(isShare, "batchScaling.throughput", throughput, "at least 0 and below 1");
  } else if (scaling.rule !== "off") {
    const { step = defaultFixedStep } = scaling;
    requireOption(step > 0 && step < Infinity, "batchScaling.step", step, "a number above 0");
  }
}
