import type { UpdateRule } from "../kernels/contract.js";
import type { ParameterLayout } from "./layout.js";

/**
 * How many flat arrays of state an update rule keeps: none for SGD (`null`), one for Adagrad, two
 * for Adam.
 */
export function optimizerStateArrays(rule: UpdateRule | null): 0 | 1 | 2 {
  if (rule === null) return 0;
  return rule.name === "adagrad" ? 1 : 2;
}

/**
 * Bytes that one replica of a network takes on a device. Kernels may need more for their own tiles.
 */
export interface NetworkBytes {
  /** The flat array of parameters. */
  readonly parameters: number;
  /** The optimiser's state arrays. */
  readonly optimizer: number;
  /** Activations, their derivatives and losses for the largest batch. */
  readonly work: number;
  readonly total: number;
}

/** Predicts the memory of one replica, for refusing a run before it starts. */
export function networkBytes(
  layout: ParameterLayout,
  { maxRows, optimizer }: { readonly maxRows: number; readonly optimizer: UpdateRule | null },
): NetworkBytes {
  const floatBytes = Float32Array.BYTES_PER_ELEMENT;
  const parameters = layout.length * floatBytes;
  const state = optimizerStateArrays(optimizer) * parameters;
  const units = layout.shape.hidden.reduce((sum, size) => sum + size, 0);
  const work = maxRows * (2 * units + 1) * floatBytes;
  return { parameters, optimizer: state, work, total: parameters + state + work };
}
