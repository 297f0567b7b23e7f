/** Whether a figure that is sampled over time grows. */
import { median, sum } from "../statistics.js";

export interface Sample {
  /** Seconds from any origin, ascending. */
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  /** Median of the first and the last third of the time. */
  readonly first: number;
  readonly last: number;
  /** Of the line through all, in units of the value an hour. */
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
  readonly verdict: "flat" | "growing" | "not clear";
}

/** Pieces of the time, each of which counts as one value: samples close together are much alike. */
const PIECES = 24;
/** Growth over the whole time, as a part of the median, that is none. */
const NEGLIGIBLE = 0.02;
/** Half the width of an interval of 95 % for a slope through `PIECES` points, in standard errors. */
const STUDENT_T = 2.07;

/**
 * Fits a line through medians of equal pieces of the time. It is flat where growth over the whole time is below 2 %
 * of the median with a confidence of 95 %, growing where it is certainly above 0 and at least as much; else not clear.
 *
 * @throws RangeError for fewer than three samples a piece.
 */
export function trendOf(samples: readonly Sample[]): Trend {
  if (samples.length < 3 * PIECES) {
    throw new RangeError(`a trend takes ${3 * PIECES} samples; there are ${samples.length}`);
  }
  const points = Array.from({ length: PIECES }, (_, piece) => {
    const part = pieceOf(samples, piece, PIECES);
    return { at: median(part.map(({ at }) => at)), value: median(valuesOf(part)) };
  });
  const { slope, error } = lineThrough(points);
  const duration = samples.at(-1)!.at - samples[0]!.at;
  const most = NEGLIGIBLE * median(valuesOf(samples));
  const growth = slope * duration;
  const margin = STUDENT_T * error * duration;
  const verdict =
    growth + margin < most
      ? "flat"
      : growth - margin > 0 && growth >= most
        ? "growing"
        : "not clear";
  return {
    first: median(valuesOf(pieceOf(samples, 0, 3))),
    last: median(valuesOf(pieceOf(samples, 2, 3))),
    slope: slope * 3600,
    error: error * 3600,
    verdict,
  };
}

const valuesOf = (samples: readonly Sample[]) => samples.map(({ value }) => value);

function pieceOf(samples: readonly Sample[], piece: number, pieces: number): readonly Sample[] {
  const bound = (index: number) => Math.round((index * samples.length) / pieces);
  return samples.slice(bound(piece), bound(piece + 1));
}

/** By least squares. */
function lineThrough(points: readonly Sample[]): {
  readonly slope: number;
  readonly error: number;
} {
  const n = points.length;
  const meanAt = sum(points.map(({ at }) => at)) / n;
  const meanValue = sum(valuesOf(points)) / n;
  const spread = sum(points.map(({ at }) => (at - meanAt) ** 2));
  const slope = sum(points.map(({ at, value }) => (at - meanAt) * (value - meanValue))) / spread;
  const residuals = points.map(({ at, value }) => value - meanValue - slope * (at - meanAt));
  const variance = sum(residuals.map((residual) => residual ** 2)) / (n - 2);
  return { slope, error: Math.sqrt(variance / spread) };
}
