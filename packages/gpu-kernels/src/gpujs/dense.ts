/** Dense layers, and the products that they and the output layer are made of. */
import type { Activation } from "@heterosgd/model";
import type { Arrays, LayerPlace, Place } from "./arrays.js";
import type { Block, Computer } from "./computer.js";
import type { Update } from "./gradient.js";
import * as programs from "./programs.js";
import { partsOf, rowsPerBlock, unitsPerBlock, type Part } from "./sizes.js";

/** Some rows of a batch. */
export type Rows = Part;

/** `before + d · weights`; `before` is freed. d has `stride` columns, of which those of `units` count. */
export function addBack(
  computer: Computer,
  before: Block,
  d: Block,
  weights: Block,
  inputs: number,
  units: Part,
  stride: number,
  firstColumn: number,
): Block {
  const numbers = [inputs, units.count, stride, firstColumn];
  const result = computer.run(programs.back, before.length, [before, d, weights], numbers);
  computer.free(before);
  return result;
}

/** `Σ dᵀ · input` over blocks of rows, for columns of d. */
export function multiplyTransposed(
  computer: Computer,
  derivatives: readonly Block[],
  input: readonly Block[],
  rows: readonly Rows[],
  inputs: number,
  stride: number,
  firstColumn: number,
  units: number,
): Block {
  let sum = computer.zeros(units * inputs);
  for (const { index, count } of rows) {
    const terms = [sum, derivatives[index]!, input[index]!];
    const numbers = [count, inputs, stride, firstColumn];
    const next = computer.run(programs.product, sum.length, terms, numbers);
    computer.free(sum);
    sum = next;
  }
  return sum;
}

/** `Σ d` over blocks of rows, for columns of d. */
export function sumColumns(
  computer: Computer,
  derivatives: readonly Block[],
  rows: readonly Rows[],
  stride: number,
  firstColumn: number,
  units: number,
): Block {
  let sum = computer.zeros(units);
  for (const { index, count } of rows) {
    const numbers = [count, stride, firstColumn];
    const next = computer.run(programs.columnSums, units, [sum, derivatives[index]!], numbers);
    computer.free(sum);
    sum = next;
  }
  return sum;
}

export function createDenseLayer(computer: Computer, arrays: Arrays) {
  return {
    forward(
      rows: number,
      input: Place,
      layer: LayerPlace,
      activation: Activation,
      out: Place,
    ): void {
      const { inputs, outputs } = layer;
      const size = rowsPerBlock(inputs, outputs);
      const sources = arrays.onDevice(input, rows * inputs, size * inputs);
      const unitSize = unitsPerBlock(inputs);
      const units = partsOf(outputs, unitSize);
      const weights = arrays.onDevice(layer.weights, outputs * inputs, unitSize * inputs);
      const bias = arrays.onDevice(layer.bias, outputs, unitSize);
      const results = sources.map((source) => {
        const length = (source.length / inputs) * outputs;
        let sums =
          units.length === 1
            ? computer.run(
                programs.affine,
                length,
                [source, weights[0]!, bias[0]!],
                [inputs, outputs],
              )
            : computer.zeros(length);
        for (const { index, first, count } of units.length === 1 ? [] : units) {
          const terms = [sums, source, weights[index]!, bias[index]!];
          const next = computer.run(programs.affineInto, length, terms, [
            inputs,
            outputs,
            first,
            count,
          ]);
          computer.free(sums);
          sums = next;
        }
        const result = computer.run(programs.activations[activation], length, [sums]);
        computer.free(sums);
        return result;
      });
      arrays.replace(out, rows * outputs, size * outputs, results);
    },

    backward(
      rows: number,
      input: Place,
      layer: LayerPlace,
      activation: Activation,
      outputs: Place,
      dOutputs: Place,
      update: Update,
      dInput: Place,
    ): void {
      const { inputs, outputs: width } = layer;
      const size = rowsPerBlock(inputs, width);
      const rowParts = partsOf(rows, size);
      const sources = arrays.onDevice(input, rows * inputs, size * inputs);
      const values = arrays.onDevice(outputs, rows * width, size * width);
      const derivatives = arrays
        .onDevice(dOutputs, rows * width, size * width)
        .map((d, i) => computer.run(programs.derivatives[activation], d.length, [d, values[i]!]));
      const unitSize = unitsPerBlock(inputs);
      const units = partsOf(width, unitSize);
      const weights = arrays.onDevice(layer.weights, width * inputs, unitSize * inputs);
      const back = derivatives.map((d, i) =>
        units.reduce(
          (sum, part) =>
            addBack(computer, sum, d, weights[part.index]!, inputs, part, width, part.first),
          computer.zeros(sources[i]!.length),
        ),
      );
      const applyWeights = update.onDevice("weights", unitSize * inputs);
      const applyBias = update.onDevice("bias", unitSize);
      for (const { index, first, count } of units) {
        const gradient = multiplyTransposed(
          computer,
          derivatives,
          sources,
          rowParts,
          inputs,
          width,
          first,
          count,
        );
        applyWeights(index, gradient);
        const sums = sumColumns(computer, derivatives, rowParts, width, first, count);
        applyBias(index, sums);
        computer.free(gradient, sums);
      }
      computer.free(...derivatives);
      arrays.replace(dInput, rows * inputs, size * inputs, back);
    },
  };
}
