import type { Activation, Batch, Layer } from "../contract.js";
import { activate } from "./activation.js";
import { addScaledRow, type FloatArray } from "./arrays.js";

/**
 * `Kernels.gather`: the first layer forward, four non-zeros at a time.
 *
 * The arithmetic is in functions of its own: this one is called once a batch, so that the engine
 * would compile it in the middle of its loops, before it has seen them all, and throw that away
 * again and again.
 */
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
    const end = offsets[row + 1]!;
    let i = offsets[row]!;
    copyRow(bias, out, o, outputs);
    for (; i + 4 <= end; i += 4) addFourRows(weights, indices, values, i, out, o, outputs);
    for (; i < end; i++) {
      addScaledRow(out, o, values[i]!, weights, indices[i]! * outputs, outputs);
    }
  }
  activate(activation, out, rows * outputs);
}

function copyRow(source: FloatArray, target: FloatArray, start: number, length: number): void {
  for (let j = 0; j < length; j++) target[start + j] = source[j]!;
}

/**
 * `out[o + j] += Σ values[i] · weights[indices[i]·width + j]` for four non-zeros from `first` on.
 */
function addFourRows(
  weights: FloatArray,
  indices: Uint32Array,
  values: Float32Array,
  first: number,
  out: FloatArray,
  o: number,
  width: number,
): void {
  const w0 = indices[first]! * width;
  const w1 = indices[first + 1]! * width;
  const w2 = indices[first + 2]! * width;
  const w3 = indices[first + 3]! * width;
  const x0 = values[first]!;
  const x1 = values[first + 1]!;
  const x2 = values[first + 2]!;
  const x3 = values[first + 3]!;
  for (let j = 0; j < width; j++) {
    out[o + j] =
      out[o + j]! +
      x0 * weights[w0 + j]! +
      x1 * weights[w1 + j]! +
      x2 * weights[w2 + j]! +
      x3 * weights[w3 + j]!;
  }
}
