import type { DeviceArray, Kernels, Layer } from "../kernels/contract.js";
import { checkShape, type ModelShape } from "./shape.js";

/** Where one named tensor lies in the flat array of all parameters. */
export interface TensorView {
  /** `input.weight`, `input.bias`, `hidden.1.weight` …, `output.weight`, `output.bias`. */
  readonly name: string;
  /** First element, a multiple of 16 (64 bytes). */
  readonly offset: number;
  /** Number of elements. */
  readonly length: number;
  /**
   * Row-major dimensions: `[inputs, outputs]` in the first layer, `[outputs, inputs]` later,
   * `[outputs]` of a bias.
   */
  readonly dimensions: readonly number[];
}

/** One layer's sizes and where its arrays lie. */
export interface LayerLayout {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: TensorView;
  readonly bias: TensorView;
}

/**
 * A network's parameters as one flat array with named parts. A gradient and each array of an
 * optimiser's state have the same layout.
 */
export interface ParameterLayout {
  readonly shape: ModelShape;
  /** Elements of the flat array, padding between tensors included (padding stays 0). */
  readonly length: number;
  /** Number of parameters, without padding. */
  readonly parameterCount: number;
  /** The first (sparse) layer, the dense hidden layers, the output layer. */
  readonly layers: readonly LayerLayout[];
  /** All tensors in the order in which they lie. */
  readonly tensors: readonly TensorView[];
}

/**
 * Every tensor begins at a multiple of this many elements: a cache line, and the widest SIMD
 * register.
 */
const alignment = 16;

/**
 * Lays the parameters of a network out in one flat array.
 *
 * @throws RangeError if the shape is impossible.
 */
export function parameterLayout(shape: ModelShape): ParameterLayout {
  checkShape(shape);
  const tensors: TensorView[] = [];
  let end = 0;
  const place = (name: string, dimensions: readonly number[]): TensorView => {
    const length = dimensions.reduce((product, size) => product * size, 1);
    const tensor = { name, offset: end, length, dimensions };
    tensors.push(tensor);
    end = Math.ceil((end + length) / alignment) * alignment;
    return tensor;
  };

  const sizes = [shape.features, ...shape.hidden, shape.labels];
  const last = sizes.length - 2;
  const layers: LayerLayout[] = [];
  for (let i = 0; i <= last; i++) {
    const inputs = sizes[i]!;
    const outputs = sizes[i + 1]!;
    const name = i === 0 ? "input" : i === last ? "output" : `hidden.${i}`;
    layers.push({
      inputs,
      outputs,
      weights: place(`${name}.weight`, i === 0 ? [inputs, outputs] : [outputs, inputs]),
      bias: place(`${name}.bias`, [outputs]),
    });
  }
  const parameterCount = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
  return { shape, length: end, parameterCount, layers, tensors };
}

/**
 * The layers of a flat array of parameters, a gradient or optimiser state, as views that kernels
 * take.
 */
export function layersOf<A extends DeviceArray>(
  kernels: Pick<Kernels<A, never>, "view">,
  layout: ParameterLayout,
  flat: A,
): readonly Layer<A>[] {
  if (flat.length !== layout.length) {
    throw new RangeError(
      `The array has ${flat.length} elements, the layout needs ${layout.length}.`,
    );
  }
  return layout.layers.map(({ inputs, outputs, weights, bias }) => ({
    inputs,
    outputs,
    weights: kernels.view(flat, weights.offset, weights.length),
    bias: kernels.view(flat, bias.offset, bias.length),
  }));
}
