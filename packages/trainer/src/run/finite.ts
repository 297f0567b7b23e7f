import { l2Norm } from "@heterosgd/merge";
import { TrainerError } from "../errors.js";

/** Whether all of a model's elements are finite: the sum of their squares is then, in float64. */
export function allFinite(parameters: Float32Array): boolean {
  return Number.isFinite(l2Norm(parameters));
}

export function diverged(): TrainerError {
  return new TrainerError(
    "DIVERGED",
    "training has diverged: the last merge has made parameters that are not finite; try a smaller learning rate",
  );
}
