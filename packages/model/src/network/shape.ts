import type { Activation, Loss } from "../kernels/contract.js";

/** The sizes and functions of a network: sparse features → hidden layers → labels. */
export interface ModelShape {
  /** Number of input features. */
  readonly features: number;
  /** Units of each hidden layer, at least one layer. The first is the sparse layer's output. */
  readonly hidden: readonly number[];
  /** Number of labels. */
  readonly labels: number;
  /** Activation of every hidden layer. */
  readonly activation: Activation;
  readonly loss: Loss;
}

/** The activations there are. */
export const activations = ["relu", "sigmoid", "tanh"] as const satisfies readonly Activation[];

/** The losses there are. */
export const losses = ["softmax", "sigmoid"] as const satisfies readonly Loss[];

/**
 * Throws `RangeError` unless every size is a positive integer below 2³² and the names are known.
 */
export function checkShape(shape: ModelShape): void {
  checkSize("features", shape.features);
  checkSize("labels", shape.labels);
  if (shape.hidden.length === 0) throw new RangeError("A network needs at least one hidden layer.");
  for (const units of shape.hidden) checkSize("hidden", units);
  if (!activations.includes(shape.activation)) {
    throw new RangeError(`activation must be one of ${activations.join(", ")}.`);
  }
  if (!losses.includes(shape.loss))
    throw new RangeError(`loss must be one of ${losses.join(", ")}.`);
}

function checkSize(name: string, value: number): void {
  if (!Number.isInteger(value) || value < 1 || value > 0xffff_ffff) {
    throw new RangeError(`${name} must be a whole number from 1 to 4294967295, not ${value}.`);
  }
}

/** One line for people, such as `38,853 features → 128 relu → 15,929 labels, softmax`. */
export function describeShape(shape: ModelShape): string {
  const hidden = shape.hidden.map((units) => `${grouped(units)} ${shape.activation}`);
  const layers = [counted(shape.features, "feature"), ...hidden, counted(shape.labels, "label")];
  return `${layers.join(" → ")}, ${shape.loss}`;
}

function counted(value: number, thing: string): string {
  return `${grouped(value)} ${thing}${value === 1 ? "" : "s"}`;
}

function grouped(value: number): string {
  return value.toLocaleString("en-US");
}
