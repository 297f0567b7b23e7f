/** Dense hidden layers. */
import { activate, multiplyByDerivative } from "./activation";
import { addPackedProducts, addProducts, packColumns, sumColumns } from "./add-products";
import * as gradient from "./gradient";
import { dot, pack, packedLanes, scores } from "./products";

/** From so many rows on, packing the weights pays, forward and backward. */
const packedRows: usize = 4;
const packedRowsBackward: usize = 16;

/**
 * `out = activation(input · Wᵀ + bias)`. `panels` has room for the packed weights, `staging` for
 * `rows` rows of `packedLanes(units)` floats.
 */
export function dense(
  rows: usize,
  input: usize,
  inputs: usize,
  weights: usize,
  bias: usize,
  units: usize,
  activation: i32,
  out: usize,
  panels: usize,
  staging: usize,
): void {
  const stride = units << 2;
  if (rows < packedRows) {
    multiplyFew(rows, input, inputs, weights, units, out);
  } else {
    pack(weights, units, inputs, panels);
    if ((units & 3) == 0) {
      scores(panels, units, inputs, input, rows, 0, out, stride);
    } else {
      const staged = packedLanes(units) << 2;
      scores(panels, units, inputs, input, rows, 0, staging, staged);
      for (let row: usize = 0; row < rows; row++) {
        memory.copy(out + row * stride, staging + row * staged, stride);
      }
    }
  }
  addToRows(bias, units, rows, out);
  activate(activation, out, rows * units);
}

/** `out = input · Wᵀ` for a few rows, with the weights as they lie. */
function multiplyFew(
  rows: usize,
  input: usize,
  inputs: usize,
  weights: usize,
  units: usize,
  out: usize,
): void {
  const width = inputs << 2;
  for (let unit: usize = 0; unit < units; unit++) {
    let x = input;
    for (let row: usize = 0; row < rows; row++) {
      store<f32>(out + ((row * units + unit) << 2), dot(x, weights, inputs));
      x += width;
    }
    weights += width;
  }
}

/** Adds a bias to every row. */
function addToRows(bias: usize, units: usize, rows: usize, out: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    let j: usize = 0;
    for (; j + 4 <= units; j += 4) {
      v128.store(out, f32x4.add(v128.load(out), v128.load(bias + (j << 2))));
      out += 16;
    }
    for (; j < units; j++) {
      store<f32>(out, load<f32>(out) + load<f32>(bias + (j << 2)));
      out += 4;
    }
  }
}

/**
 * Backward: derivatives go to `dInput`, the gradient where `setGradient` said. `panels` has room
 * for the packed weights, `scaled` for the input, `sums` for the gradient of the bias, and under a
 * rule of the weights.
 */
export function denseBackward(
  rows: usize,
  input: usize,
  inputs: usize,
  weights: usize,
  units: usize,
  activation: i32,
  outputs: usize,
  dOutputs: usize,
  dInput: usize,
  panels: usize,
  scaled: usize,
  sums: usize,
): void {
  const stride = units << 2;
  multiplyByDerivative(activation, outputs, dOutputs, rows * units);
  memory.fill(dInput, 0, (rows * inputs) << 2);
  if (rows < packedRowsBackward) {
    addProducts(dOutputs, stride, 4, rows, units, weights, inputs, dInput);
  } else {
    packColumns(weights, units, inputs, 1, panels);
    addPackedProducts(dOutputs, stride, 4, rows, units, panels, units, 0, inputs, dInput);
  }

  packColumns(input, rows, inputs, gradient.scale, scaled);
  const isRule = gradient.kind != gradient.add;
  const target = isRule ? sums : gradient.weights;
  if (isRule) memory.fill(sums, 0, (units * inputs) << 2);
  addPackedProducts(dOutputs, 4, stride, units, rows, scaled, rows, 0, inputs, target);
  if (isRule) {
    gradient.apply(
      gradient.weights,
      gradient.weightsFirst,
      gradient.weightsSecond,
      sums,
      units * inputs,
    );
  }
  sumColumns(dOutputs, rows, units, gradient.scale, sums);
  gradient.apply(gradient.bias, gradient.biasFirst, gradient.biasSecond, sums, units);
}
