import { largestLearningRate, type RowRange } from "@heterosgd/scheduler";
import { TrainerError } from "../errors.js";

/** A loss that is not finite, on these rows; the rate is null where a batch has none. */
export function divergence(
  device: string,
  rows: readonly RowRange[],
  learningRate: number | null,
  loss: number,
): TrainerError {
  const rate =
    learningRate === null ? "" : ` at learning rate ${Number(learningRate.toPrecision(4))}`;
  return new TrainerError(
    "DIVERGED",
    `training has diverged: the loss is ${loss} on ${device}, ${wordsOf(rows)}${rate}; try a smaller learning rate`,
  );
}

/** What schedules and sizes of batches make of a rate that was in range itself. */
export function rateOutOfRange(
  device: string,
  rows: readonly RowRange[],
  learningRate: number,
): TrainerError {
  return new TrainerError(
    "BAD_OPTION",
    `the learning rate has become ${Number(learningRate.toPrecision(4))} on ${device}, ${wordsOf(rows)}, ` +
      `but devices compute in float32, up to ${Number(largestLearningRate.toPrecision(4))}; try a smaller one`,
  );
}

function wordsOf(rows: readonly RowRange[]): string {
  return rows
    .map(({ epoch, start, count }) => `rows ${start + 1} to ${start + count} of epoch ${epoch + 1}`)
    .join(", ");
}
