/** Medians and ranges of values that may be missing: a goal never reached takes for ever. */
import type { Measure } from "./measures.js";

/** Worst of all: what a missing value counts as. */
export function worst({ better }: Pick<Measure, "better">): number {
  return better === "higher" ? -Infinity : Infinity;
}

export interface Range {
  /** The middle value; of an even number the one below the middle, as the mean may not be finite. */
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** How many of the values were missing. */
  readonly missing: number;
}

/** Null where there are no values to speak of. */
export function rangeOf(
  values: readonly (number | null | undefined)[],
  measure: Pick<Measure, "better">,
): Range | null {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return null;
  const sorted = known.map((value) => value ?? worst(measure)).toSorted((a, b) => a - b);
  return {
    median: sorted[Math.floor((sorted.length - 1) / 2)]!,
    low: sorted[0]!,
    high: sorted.at(-1)!,
    count: sorted.length,
    missing: known.filter((value) => value === null).length,
  };
}

const missingWords: Readonly<Record<Measure["unit"], string>> = {
  seconds: "never",
  factor: "none",
  share: "–",
  loss: "–",
  percent: "–",
};

/** A value for people. */
export function valueWords(value: number, { unit }: Pick<Measure, "unit">): string {
  if (!Number.isFinite(value)) return missingWords[unit];
  switch (unit) {
    case "share":
      return value.toFixed(4);
    case "loss":
      return value.toFixed(3);
    case "seconds":
      return `${Number(value.toPrecision(3))} s`;
    case "factor":
      return value.toFixed(2);
    case "percent":
      return `${(100 * value).toFixed(1)} %`;
  }
}

/** `0.6512 (0.6490–0.6531)` */
export function rangeWords(range: Range | null, measure: Pick<Measure, "unit">): string {
  if (range === null) return "–";
  const [middle, ...ends] = [range.median, range.low, range.high].map((it) =>
    valueWords(it, measure),
  );
  return ends.every((end) => end === middle) ? middle! : `${middle} (${ends.join("–")})`;
}
