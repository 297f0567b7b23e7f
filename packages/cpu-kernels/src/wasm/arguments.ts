/**
 * Checks of the arguments. Addresses leave here: nothing is read or written in WebAssembly that did
 * not pass these functions.
 */
import type { Activation, GradientTarget, Layer, LayerArrays, Loss } from "@heterosgd/model";
import {
  fail,
  finite,
  hostArray,
  numberOf,
  requireObject,
  ruleNumbers,
  stateEntries,
  whole,
} from "../checks.js";
import { createLocator } from "./memory.js";
import type { WasmFunctions } from "./module.js";

/** A layer by addresses. */
export interface LayerPlace {
  readonly weights: number;
  readonly bias: number;
  readonly inputs: number;
  readonly outputs: number;
}

/** What `setGradient` calls the kinds of target. */
export const gradientNumbers = { none: 0, add: 1, adagrad: 2, adam: 3 } as const;

const activationNumbers: Readonly<Record<Activation, number>> = { relu: 0, sigmoid: 1, tanh: 2 };
const lossNumbers: Readonly<Record<Loss, number>> = { softmax: 0, sigmoid: 1 };

export interface ArgumentReader {
  /** The address of an array of at least `least` elements. */
  readonly floats: (operation: string, name: string, array: Float32Array, least: number) => number;
  readonly layer: (operation: string, layer: Layer) => LayerPlace;
  /** Tells the functions where the next call's gradient goes, and returns which kind it is. */
  readonly gradient: (
    operation: string,
    target: GradientTarget | null,
    layer: Pick<LayerPlace, "inputs" | "outputs">,
  ) => number;
}

export const activationNumber = (operation: string, activation: Activation): number =>
  numberOf(operation, "activation", activationNumbers, activation);
export const lossNumber = (operation: string, loss: Loss): number =>
  numberOf(operation, "loss", lossNumbers, loss);

export function createArgumentReader(
  memory: WebAssembly.Memory,
  wasm: WasmFunctions,
): ArgumentReader {
  const locate = createLocator(memory);

  function floats(operation: string, name: string, array: Float32Array, least: number): number {
    hostArray(operation, name, array, Float32Array, least);
    const address = locate(array);
    if (address !== undefined) return address;
    fail(
      "KERNEL_ARRAY",
      operation,
      `${name} does not lie in the memory of these kernels: take it by their allocate, or by ` +
        "allocateInWasmMemory from the memory that they were made with",
    );
  }

  function exactFloats(
    operation: string,
    name: string,
    array: Float32Array,
    length: number,
  ): number {
    const address = floats(operation, name, array, 0);
    if (array.length === length) return address;
    fail("KERNEL_ARRAY", operation, `${name} has ${array.length} elements, expected ${length}`);
  }

  function parts(
    operation: string,
    name: string,
    arrays: LayerArrays,
    { inputs, outputs }: Pick<LayerPlace, "inputs" | "outputs">,
  ) {
    requireObject(operation, name, arrays);
    return {
      weights: exactFloats(operation, `${name}.weights`, arrays.weights, inputs * outputs),
      bias: exactFloats(operation, `${name}.bias`, arrays.bias, outputs),
    };
  }

  return {
    floats,

    layer(operation, layer) {
      requireObject(operation, "layer", layer);
      const inputs = whole(operation, "layer.inputs", layer.inputs, 1);
      const outputs = whole(operation, "layer.outputs", layer.outputs, 1);
      return { ...parts(operation, "layer", layer, { inputs, outputs }), inputs, outputs };
    },

    gradient(operation, gradient, layer) {
      if (gradient === null) {
        wasm.setGradient(gradientNumbers.none, 1, 0, 0);
        return gradientNumbers.none;
      }
      requireObject(operation, "gradient", gradient);
      const scale = finite(operation, "gradient.scale", gradient.scale);
      const target = parts(operation, "gradient.target", gradient.target, layer);
      if (gradient.kind === "add") {
        wasm.setGradient(gradientNumbers.add, scale, target.weights, target.bias);
        return gradientNumbers.add;
      }
      const { rule, state } = gradient;
      requireObject(operation, "gradient.rule", rule);
      requireObject(operation, "gradient.state", state);
      const name = numberOf(
        operation,
        "gradient.rule.name",
        { adagrad: gradientNumbers.adagrad, adam: gradientNumbers.adam },
        rule.name,
      );
      const needed = stateEntries(operation, gradient);
      wasm.setRule(...ruleNumbers(operation, gradient));
      const first = parts(operation, "gradient.state[0]", state[0]!, layer);
      const second =
        needed === 1
          ? { weights: 0, bias: 0 }
          : parts(operation, "gradient.state[1]", state[1]!, layer);
      wasm.setGradient(name, scale, target.weights, target.bias);
      wasm.setState(first.weights, first.bias, second.weights, second.bias);
      return name;
    },
  };
}
