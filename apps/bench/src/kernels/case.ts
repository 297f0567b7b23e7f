/** What is measured of each implementation: one operation at one size. */
import type { GradientTarget, Kernels, Layer } from "@heterosgd/model";
import { createRandom, type Random } from "@heterosgd/sparse";
import type { Helpers } from "../machine/helpers.js";
import type { OpenBlas } from "./openblas.js";

/** The array of this name, zero or filled when it is first taken. */
export type TakeArray = (
  name: string,
  length: number,
  fill?: (into: Float32Array) => void,
) => Float32Array;

/** Where one implementation works: its arrays are its own, or shared with the others. */
export interface Workplace {
  readonly kernels: Kernels;
  readonly array: TakeArray;
}

/** One operation ready to run, and the figures that must agree between implementations. */
export interface Prepared {
  readonly run: () => void | Promise<void>;
  readonly losses?: Float32Array;
  readonly dHidden?: Float32Array;
}

/** How much of what is done is one of a unit. */
export const units = {
  "GFLOP/s": 1e9,
  "GB/s": 1e9,
  "rows/s": 1,
  "M parameters/s": 1e6,
} as const;
export type Unit = keyof typeof units;

export interface Case {
  /** Names it in `--only`. */
  readonly operation: string;
  readonly title: string;
  readonly unit: Unit;
  /** What one run does: floating-point operations, bytes, rows or parameters. */
  readonly amount: number;
  /** The limit that its rate is compared with, if there is one. */
  readonly limit: "peak" | "read" | "read and write" | "triad" | null;
  /** Null where the implementation lacks the operation. */
  readonly prepare: (place: Workplace) => Prepared | null;
  /** The same over a matrix library. */
  readonly rival?: (
    array: TakeArray,
    openBlas: OpenBlas,
    softmax: Helpers["softmax"],
    threads: number,
  ) => Prepared;
}

export interface Sizes {
  readonly rows: number;
  readonly hidden: number;
  readonly classes: readonly number[];
}

/** So small that weights stay what they are, however often they are updated. */
export const RATE = 1e-4;

/** Non-zeros of a row in the mean, as in Amazon-670k. */
export const NON_ZEROS = 76;

export function fillUniform(random: Random, bound: number): (into: Float32Array) => void {
  return (into) => {
    for (let i = 0; i < into.length; i++) into[i] = bound * (2 * random.nextFloat() - 1);
  };
}

/** Activations as a ReLU leaves them: half of them 0. */
export function hiddenRows(array: TakeArray, length: number): Float32Array {
  const random = createRandom(4);
  return array("hidden", length, (into) => {
    for (let i = 0; i < into.length; i++) into[i] = Math.max(0, 2 * random.nextFloat() - 1);
  });
}

/** A layer whose sums are of order 1. */
export function layerOf(array: TakeArray, inputs: number, outputs: number): Layer {
  const random = createRandom(2, inputs, outputs);
  const fill = fillUniform(random, Math.sqrt(3 / Math.min(inputs, outputs)));
  return {
    inputs,
    outputs,
    weights: array(`weights ${inputs} ${outputs}`, inputs * outputs, fill),
    bias: array(`bias ${inputs} ${outputs}`, outputs),
  };
}

export function inPlace(layer: Layer, rows: number): GradientTarget {
  return { kind: "add", target: layer, scale: -RATE / rows };
}

/** For titles. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}
