import type { Activation, Batch, GradientTarget, Layer } from "../contract.js";
import { multiplyByDerivative } from "./activation.js";
import { applyGradient } from "./apply-gradient.js";
import { addScaledRow, reusable, type FloatArray } from "./arrays.js";
import { createColumnOrder } from "./column-order.js";
import { sumRows } from "./matrix.js";

/**
 * Makes `Kernels.scatter`, which keeps room for one feature's gradient and, for rules, the batch by
 * columns.
 */
export function createScatter<A extends FloatArray>(allocate: (length: number) => A) {
  const gradientOf = reusable(allocate);
  const byColumn = createColumnOrder();

  return (
    batch: Batch,
    layer: Layer<A>,
    activation: Activation,
    outputs: A,
    dOutputs: A,
    gradient: GradientTarget<A>,
  ): void => {
    const { outputs: units } = layer;
    multiplyByDerivative(activation, outputs, dOutputs, batch.rows * units);

    const values = gradientOf(units);
    if (gradient.kind === "add") {
      addNonZeros(batch, dOutputs, units, gradient.scale, gradient.target.weights);
    } else {
      // A rule isn't linear in the gradient: a feature's occurrences are summed before it is
      // applied.
      const order = byColumn(batch, layer.inputs);
      let i = 0;
      for (let slot = 0; slot < order.count; slot++) {
        values.fill(0, 0, units);
        for (const end = order.ends[slot]!; i < end; i++) {
          addScaledRow(values, 0, order.values[i]!, dOutputs, order.rows[i]! * units, units);
        }
        applyGradient(gradient, "weights", order.columns[slot]! * units, values, units);
      }
    }
    sumRows(dOutputs, 0, 1, units, units, batch.rows, values);
    applyGradient(gradient, "bias", 0, values, units);
  };
}

function addNonZeros(
  batch: Batch,
  dOutputs: FloatArray,
  units: number,
  scale: number,
  target: FloatArray,
): void {
  for (let row = 0; row < batch.rows; row++) {
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      const x = scale * batch.values[i]!;
      addScaledRow(target, batch.indices[i]! * units, x, dOutputs, row * units, units);
    }
  }
}
