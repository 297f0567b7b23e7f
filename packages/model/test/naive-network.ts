/**
 * A network as the textbook has it, deliberately naive: dense matrices of float64, nothing in
 * blocks, nothing in place, every formula on its own. The kernels are checked against it, and it
 * against finite differences.
 */
import type { Activation, Batch, ParameterLayout } from "../src/index.js";

type Matrix = number[][];

interface NaiveLayer {
  /** `inputs × outputs`, in every layer. */
  readonly weights: Matrix;
  readonly bias: number[];
}

const functions: Record<Activation, (z: number) => number> = {
  relu: (z) => Math.max(0, z),
  sigmoid: (z) => 1 / (1 + Math.exp(-z)),
  tanh: (z) => Math.tanh(z),
};
const derivatives: Record<Activation, (y: number) => number> = {
  relu: (y) => (y > 0 ? 1 : 0),
  sigmoid: (y) => y * (1 - y),
  tanh: (y) => 1 - y * y,
};

function matrix(rows: number, columns: number, entry: (i: number, j: number) => number): Matrix {
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (__, j) => entry(i, j)),
  );
}

function sum(count: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
}

function layersFrom(layout: ParameterLayout, flat: Float64Array): NaiveLayer[] {
  return layout.layers.map(({ inputs, outputs, weights, bias }, index) => ({
    weights: matrix(inputs, outputs, (i, j) => {
      const position = index === 0 ? i * outputs + j : j * inputs + i;
      return flat[weights.offset + position]!;
    }),
    bias: Array.from({ length: outputs }, (_, j) => flat[bias.offset + j]!),
  }));
}

/** Features and labels of a batch as dense matrices. */
function unpack(layout: ParameterLayout, batch: Batch): { x: Matrix; y: Matrix } {
  const x = matrix(batch.rows, layout.shape.features, () => 0);
  const y = matrix(batch.rows, layout.shape.labels, () => 0);
  for (let row = 0; row < batch.rows; row++) {
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      x[row]![batch.indices[i]!]! += batch.values[i]!;
    }
    for (let i = batch.labelOffsets[row]!; i < batch.labelOffsets[row + 1]!; i++) {
      y[row]![batch.labels[i]!] = 1;
    }
  }
  return { x, y };
}

/** Activations of every layer, the input first, the logits last. */
function forward(layout: ParameterLayout, layers: readonly NaiveLayer[], x: Matrix): Matrix[] {
  const activations = [x];
  for (const [index, { weights, bias }] of layers.entries()) {
    const input = activations.at(-1)!;
    const isLast = index === layers.length - 1;
    const f = isLast ? (z: number) => z : functions[layout.shape.activation];
    activations.push(
      matrix(x.length, bias.length, (row, j) =>
        f(bias[j]! + sum(weights.length, (i) => input[row]![i]! * weights[i]![j]!)),
      ),
    );
  }
  return activations;
}

/** The logits of a batch, rows × labels. */
export function naiveLogits(layout: ParameterLayout, flat: Float64Array, batch: Batch): Matrix {
  return forward(layout, layersFrom(layout, flat), unpack(layout, batch).x).at(-1)!;
}

/** Sum of the rows' losses. */
export function naiveLoss(layout: ParameterLayout, flat: Float64Array, batch: Batch): number {
  const { y } = unpack(layout, batch);
  const logits = naiveLogits(layout, flat, batch);
  return sum(batch.rows, (row) => {
    const labels = sum(y[row]!.length, (c) => y[row]![c]!);
    if (labels === 0) return 0;
    const exponentials = logits[row]!.map(Math.exp);
    const total = sum(exponentials.length, (c) => exponentials[c]!);
    return sum(exponentials.length, (c) => {
      const target = y[row]![c]!;
      if (layout.shape.loss === "softmax") {
        return -(target / labels) * Math.log(exponentials[c]! / total);
      }
      const p = functions.sigmoid(logits[row]![c]!);
      return -target * Math.log(p) - (1 - target) * Math.log(1 - p);
    });
  });
}

/** The gradient of `naiveLoss`, laid out as the parameters are. */
export function naiveGradient(
  layout: ParameterLayout,
  flat: Float64Array,
  batch: Batch,
): Float64Array {
  const { x, y } = unpack(layout, batch);
  const layers = layersFrom(layout, flat);
  const activations = forward(layout, layers, x);
  const logits = activations.at(-1)!;
  let delta = matrix(batch.rows, layout.shape.labels, (row, c) => {
    const labels = sum(y[row]!.length, (i) => y[row]![i]!);
    if (labels === 0) return 0;
    if (layout.shape.loss === "sigmoid") return functions.sigmoid(logits[row]![c]!) - y[row]![c]!;
    const total = sum(logits[row]!.length, (i) => Math.exp(logits[row]![i]!));
    return Math.exp(logits[row]![c]!) / total - y[row]![c]! / labels;
  });

  const gradient = new Float64Array(layout.length);
  for (let index = layers.length - 1; index >= 0; index--) {
    const { inputs, outputs, weights, bias } = layout.layers[index]!;
    const input = activations[index]!;
    const current = delta;
    for (let j = 0; j < outputs; j++) {
      gradient[bias.offset + j] = sum(batch.rows, (row) => current[row]![j]!);
      for (let i = 0; i < inputs; i++) {
        const position = index === 0 ? i * outputs + j : j * inputs + i;
        gradient[weights.offset + position] = sum(
          batch.rows,
          (row) => current[row]![j]! * input[row]![i]!,
        );
      }
    }
    const slope = derivatives[layout.shape.activation];
    delta = matrix(
      batch.rows,
      inputs,
      (row, i) =>
        slope(input[row]![i]!) *
        sum(outputs, (j) => current[row]![j]! * layers[index]!.weights[i]![j]!),
    );
  }
  return gradient;
}
