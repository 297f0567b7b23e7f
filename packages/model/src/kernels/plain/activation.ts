import type { Activation } from "../contract.js";
import type { FloatArray } from "./arrays.js";

/** Applies the activation to `count` elements in place. */
export function activate(activation: Activation, values: FloatArray, count: number): void {
  switch (activation) {
    case "relu":
      // Written so that NaN stays NaN: a diverged network must show in its loss.
      for (let i = 0; i < count; i++) if (values[i]! < 0) values[i] = 0;
      return;
    case "sigmoid":
      for (let i = 0; i < count; i++) values[i] = sigmoid(values[i]!);
      return;
    case "tanh":
      for (let i = 0; i < count; i++) values[i] = Math.tanh(values[i]!);
  }
}

/**
 * Multiplies `count` derivatives in place by the activation's own, which follows from its output.
 */
export function multiplyByDerivative(
  activation: Activation,
  outputs: FloatArray,
  derivatives: FloatArray,
  count: number,
): void {
  switch (activation) {
    case "relu":
      for (let i = 0; i < count; i++) if (outputs[i]! <= 0) derivatives[i] = 0;
      return;
    case "sigmoid":
      for (let i = 0; i < count; i++) {
        const y = outputs[i]!;
        derivatives[i] = derivatives[i]! * y * (1 - y);
      }
      return;
    case "tanh":
      for (let i = 0; i < count; i++) {
        const y = outputs[i]!;
        derivatives[i] = derivatives[i]! * (1 - y * y);
      }
  }
}

/** 1 / (1 + e⁻ᶻ), in whichever form cannot overflow. */
export function sigmoid(z: number): number {
  const e = Math.exp(-Math.abs(z));
  return z >= 0 ? 1 / (1 + e) : e / (1 + e);
}
