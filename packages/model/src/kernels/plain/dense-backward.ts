import type { Activation, GradientTarget, Layer } from "../contract.js";
import { multiplyByDerivative } from "./activation.js";
import { applyGradient } from "./apply-gradient.js";
import { reusable, type FloatArray } from "./arrays.js";
import { addProduct, sumRows } from "./matrix.js";

/** Makes `Kernels.denseBackward`, which keeps room for one layer's gradient. */
export function createDenseBackward<A extends FloatArray>(allocate: (length: number) => A) {
  const gradientOf = reusable(allocate);

  return (
    rows: number,
    input: A,
    layer: Layer<A>,
    activation: Activation,
    outputs: A,
    dOutputs: A,
    gradient: GradientTarget<A>,
    dInput: A,
  ): void => {
    const { inputs: width, outputs: units, weights } = layer;
    multiplyByDerivative(activation, outputs, dOutputs, rows * units);
    dInput.fill(0, 0, rows * width);
    addProduct(dOutputs, 0, units, 1, rows, units, weights, 0, width, dInput);

    const values = gradientOf(units * width);
    values.fill(0, 0, units * width);
    addProduct(dOutputs, 0, 1, units, units, rows, input, 0, width, values);
    applyGradient(gradient, "weights", 0, values, units * width);
    sumRows(dOutputs, 0, 1, units, units, rows, values);
    applyGradient(gradient, "bias", 0, values, units);
  };
}
