import type { Activation, Layer } from "../contract.js";
import { activate } from "./activation.js";
import type { FloatArray } from "./arrays.js";
import { multiplyByRows } from "./matrix.js";

/** `Kernels.dense`: a dense layer forward. */
export function dense<A extends FloatArray>(
  rows: number,
  input: A,
  layer: Layer<A>,
  activation: Activation,
  out: A,
): void {
  const { weights, bias, inputs, outputs } = layer;
  multiplyByRows(input, rows, weights, bias, 0, outputs, inputs, out, 0, outputs, 1);
  activate(activation, out, rows * outputs);
}
