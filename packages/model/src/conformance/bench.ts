/**
 * What a conformance check works with: the kernels under test, the reference in float64, and random
 * inputs that both are given.
 */
import type { Random } from "@heterosgd/sparse";
import type {
  DeviceArray,
  GradientTarget,
  Kernels,
  Layer,
  LayerArrays,
  UpdateRule,
} from "../kernels/contract.js";
import { createPlainKernels } from "../kernels/plain/plain-kernels.js";
import { largest } from "./output-rounding.js";

/** The same thing for the kernels under test and for the reference. */
export interface Twin<T, R> {
  readonly tested: T;
  readonly reference: R;
}
export type TwinArray<A> = Twin<A, Float64Array>;
export type TwinLayer<A extends DeviceArray> = Twin<Layer<A>, Layer<Float64Array>>;

/** A gradient's target, and the check of everything that it changes. */
export interface TwinGradient<A extends DeviceArray> extends Twin<
  GradientTarget<A> | null,
  GradientTarget<Float64Array> | null
> {
  /** @param rounding - what rounding may take the gradient's elements off by. Default: nothing. */
  readonly check: (rounding?: GradientRounding) => Promise<void>;
}

/** Of the sums over rows, before they are scaled. */
export interface GradientRounding {
  readonly weights: number;
  readonly bias: number;
}

const exact: GradientRounding = { weights: 0, bias: 0 };

/**
 * The kinds of gradient target that every operation is checked with. State and ε are such that an
 * update follows the gradient smoothly: with ε near 0 and fresh state its sign alone would count,
 * and rounding decides the sign of a gradient that cancels to nothing.
 */
export const gradientKinds = [
  "none",
  "added in place",
  "added to an accumulator",
  "Adagrad, fresh",
  "Adagrad, later",
  "Adam, fresh",
  "Adam, later",
  "Adam, elsewhere",
] as const;
export type GradientKind = (typeof gradientKinds)[number];

export interface Bench<A extends DeviceArray, U> {
  readonly kernels: Kernels<A, U>;
  readonly reference: Kernels<Float64Array>;
  readonly random: Random;
  /** Unit roundoff of the factors of an output layer's products. */
  readonly roundoff: number;
  /** Uniform in [low, high), by default [−1, 1). */
  readonly uniform: (length: number, low?: number, high?: number) => Float32Array;
  /** Arrays that hold these values on both sides. */
  readonly twin: (values: Float32Array) => TwinArray<A>;
  /** A layer with random weights; its logits or activations are of order 1. */
  readonly layer: (inputs: number, outputs: number) => TwinLayer<A>;
  /** A gradient target of this kind for this layer, with fresh state. */
  readonly gradient: (kind: GradientKind, layer: TwinLayer<A>) => TwinGradient<A>;
  /**
   * Throws unless the first `count` elements (default: all) agree within the tolerance, or within
   * what rounding may take them off by (default: nothing) where that is more.
   */
  readonly compare: (
    what: string,
    twin: TwinArray<A>,
    count?: number,
    rounding?: number,
  ) => Promise<void>;
  /** Throws unless the elements agree within the tolerance. */
  readonly compareHost: (
    what: string,
    actual: ArrayLike<number>,
    expected: ArrayLike<number>,
    rounding?: number,
  ) => void;
}

/**
 * The largest slope of the rules' steps by the gradient: that of g / (|g| + ε), which fresh state
 * leaves of them, with ε = 0.1. State of 0.05 or more makes for less.
 */
const STEEPEST = 10;

/** What lies before and behind a guarded array; no result comes near it. */
const guard = 12_345.5;

export interface BenchOptions {
  readonly tolerance: number;
  readonly roundoff: number;
  /**
   * Arrays are views into longer ones, from any element on, and comparing one checks that nothing
   * beside it has changed.
   */
  readonly guarded: boolean;
}

export function createBench<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  random: Random,
  { tolerance, roundoff, guarded }: BenchOptions,
): Bench<A, U> {
  const reference = createPlainKernels({ allocate: (length) => new Float64Array(length) });

  function uniform(length: number, low = -1, high = 1): Float32Array {
    const values = new Float32Array(length);
    for (let i = 0; i < length; i++) values[i] = low + (high - low) * random.nextFloat();
    return values;
  }

  function twin(values: Float32Array): TwinArray<A> {
    const tested = guarded ? guardedArray(values.length) : kernels.allocate(values.length);
    kernels.write(values, tested);
    return { tested, reference: Float64Array.from(values) };
  }

  const surroundings = new Map<A, { readonly whole: A; readonly start: number }>();

  function guardedArray(length: number): A {
    const start = random.nextBelow(17);
    const whole = kernels.allocate(start + length + 16);
    kernels.write(new Float32Array(whole.length).fill(guard), whole);
    const array = kernels.view(whole, start, length);
    surroundings.set(array, { whole, start });
    return array;
  }

  async function checkSurroundings(what: string, array: A): Promise<void> {
    const around = surroundings.get(array);
    if (around === undefined) return;
    const all = new Float32Array(around.whole.length);
    await kernels.read(around.whole, all);
    for (const [i, value] of all.entries()) {
      const place = i - around.start;
      if ((place >= 0 && place < array.length) || value === guard) continue;
      throw new Error(
        `${what}: element ${place} of ${array.length} was written: ${value}, not ${guard}`,
      );
    }
  }

  function arrays(
    like: TwinLayer<A>,
    fill: (length: number) => Float32Array,
  ): Twin<LayerArrays<A>, LayerArrays<Float64Array>> {
    const weights = twin(fill(like.reference.weights.length));
    const bias = twin(fill(like.reference.bias.length));
    return {
      tested: { weights: weights.tested, bias: bias.tested },
      reference: { weights: weights.reference, bias: bias.reference },
    };
  }

  function layer(inputs: number, outputs: number): TwinLayer<A> {
    const weights = twin(uniform(inputs * outputs, -2, 2).map((w) => w / Math.sqrt(inputs)));
    const bias = twin(uniform(outputs));
    return {
      tested: { inputs, outputs, weights: weights.tested, bias: bias.tested },
      reference: { inputs, outputs, weights: weights.reference, bias: bias.reference },
    };
  }

  function compareHost(
    what: string,
    actual: ArrayLike<number>,
    expected: ArrayLike<number>,
    rounding = 0,
  ): void {
    const bound = Math.max(tolerance * Math.max(0.1, largest(expected)), rounding);
    for (let i = 0; i < expected.length; i++) {
      // Not "> bound", which NaN would pass.
      if (!(Math.abs(actual[i]! - expected[i]!) <= bound)) {
        const within = bound.toExponential(2);
        throw new Error(`${what}[${i}] is ${actual[i]}, not ${expected[i]} within ${within}`);
      }
    }
  }

  async function compare(
    what: string,
    { tested, reference: expected }: TwinArray<A>,
    count = expected.length,
    rounding = 0,
  ): Promise<void> {
    const actual = new Float32Array(tested.length);
    await kernels.read(tested, actual);
    compareHost(what, actual, expected.subarray(0, count), rounding);
    await checkSurroundings(what, tested);
  }

  async function compareArrays(
    what: string,
    { tested, reference: expected }: Twin<LayerArrays<A>, LayerArrays<Float64Array>>,
    rounding: (part: "weights" | "bias") => number,
  ): Promise<void> {
    for (const part of ["weights", "bias"] as const) {
      const both = { tested: tested[part], reference: expected[part] };
      await compare(`${what}.${part}`, both, expected[part].length, rounding(part));
    }
  }

  function addGradient(
    target: Twin<LayerArrays<A>, LayerArrays<Float64Array>>,
    scale: number,
  ): TwinGradient<A> {
    return {
      tested: { kind: "add", target: target.tested, scale },
      reference: { kind: "add", target: target.reference, scale },
      check: (rounding = exact) =>
        compareArrays("target", target, (part) => Math.abs(scale) * rounding[part]),
    };
  }

  function ruleGradient(
    target: Twin<LayerArrays<A>, LayerArrays<Float64Array>>,
    rule: UpdateRule,
    step: number,
    state: readonly Twin<LayerArrays<A>, LayerArrays<Float64Array>>[],
  ): TwinGradient<A> {
    const common = { kind: "rule", scale: 0.3, rule, learningRate: 0.4, step } as const;
    return {
      tested: { ...common, target: target.tested, state: state.map((one) => one.tested) },
      reference: { ...common, target: target.reference, state: state.map((one) => one.reference) },
      async check(rounding = exact) {
        const { scale, learningRate } = common;
        await compareArrays(
          "target",
          target,
          (part) => learningRate * STEEPEST * scale * rounding[part],
        );
        for (const [i, one] of state.entries()) {
          await compareArrays(`state[${i}]`, one, (part) => {
            // State takes in g, or c g² with c ≤ 1, whose slope 2cg is at most 2 √state.
            const error = scale * rounding[part];
            return error * (1 + 2 * Math.sqrt(largest(one.reference[part])) + error);
          });
        }
      },
    };
  }

  function gradient(kind: GradientKind, own: TwinLayer<A>): TwinGradient<A> {
    const zeros = (length: number) => new Float32Array(length);
    const signed = (length: number) => uniform(length, -0.2, 0.2);
    const positive = (length: number) => uniform(length, 0.05, 0.5);
    switch (kind) {
      case "none":
        return { tested: null, reference: null, check: () => Promise.resolve() };
      case "added in place":
        return addGradient(own, -0.7);
      case "added to an accumulator":
        return addGradient(arrays(own, uniform), 1);
      case "Adagrad, fresh":
        return ruleGradient(own, { name: "adagrad", epsilon: 0.1 }, 1, [arrays(own, zeros)]);
      case "Adagrad, later":
        return ruleGradient(own, { name: "adagrad", epsilon: 1e-8 }, 2, [arrays(own, positive)]);
      case "Adam, fresh": {
        const rule = { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0.1 } as const;
        return ruleGradient(own, rule, 1, [arrays(own, zeros), arrays(own, zeros)]);
      }
      case "Adam, elsewhere": {
        const rule = { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0.1 } as const;
        return ruleGradient(arrays(own, uniform), rule, 2, [
          arrays(own, signed),
          arrays(own, positive),
        ]);
      }
      case "Adam, later": {
        const rule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;
        return ruleGradient(own, rule, 700, [arrays(own, signed), arrays(own, positive)]);
      }
    }
  }

  return {
    kernels,
    reference,
    random,
    roundoff,
    uniform,
    twin,
    layer,
    gradient,
    compare,
    compareHost,
  };
}
