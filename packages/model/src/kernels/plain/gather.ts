import type { Activation, Batch, Layer } from "../contract.js";
import { activate } from "./activation.js";
import type { FloatArray } from "./arrays.js";

/** `Kernels.gather`: the first layer forward, four non-zeros at a time. */
export function gather<A extends FloatArray>(
  batch: Batch,
  layer: Layer<A>,
  activation: Activation,
  out: A,
): void {
  const { rows, offsets, indices, values } = batch;
  const { weights, bias, outputs } = layer;
  for (let row = 0; row < rows; row++) {
    const o = row * outputs;
    for (let j = 0; j < outputs; j++) out[o + j] = bias[j]!;
    const end = offsets[row + 1]!;
    let i = offsets[row]!;
    for (; i + 4 <= end; i += 4) {
      const w0 = indices[i]! * outputs;
      const w1 = indices[i + 1]! * outputs;
      const w2 = indices[i + 2]! * outputs;
      const w3 = indices[i + 3]! * outputs;
      const x0 = values[i]!;
      const x1 = values[i + 1]!;
      const x2 = values[i + 2]!;
      const x3 = values[i + 3]!;
      for (let j = 0; j < outputs; j++) {
        out[o + j] =
          out[o + j]! +
          x0 * weights[w0 + j]! +
          x1 * weights[w1 + j]! +
          x2 * weights[w2 + j]! +
          x3 * weights[w3 + j]!;
      }
    }
    for (; i < end; i++) {
      const w = indices[i]! * outputs;
      const x = values[i]!;
      for (let j = 0; j < outputs; j++) out[o + j] = out[o + j]! + x * weights[w + j]!;
    }
  }
  activate(activation, out, rows * outputs);
}
