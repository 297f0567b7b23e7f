/** Which shapes the operations are checked at. */
import { activations } from "../network/shape.js";
import type { Activation, DeviceArray, Loss } from "../kernels/contract.js";
import { gradientKinds, type Bench, type GradientKind } from "./bench.js";
import type { DenseShape, Operation, OutputShape, SparseShape } from "./operations.js";

type Check = <A extends DeviceArray, U>(bench: Bench<A, U>) => Promise<void>;

/** The operation at all of these shapes; a failure's message says at which one it was. */
export function atShapes<S extends object>(operation: Operation<S>, shapes: readonly S[]): Check {
  return async (bench) => {
    for (const shape of shapes) {
      try {
        await operation(bench, shape);
      } catch (error) {
        const words = Object.entries(shape).map(([name, value]) => `${name} ${String(value)}`);
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`${words.join(", ")}: ${message}`, { cause: error });
      }
    }
  };
}

/** Odd sizes, and one on either side of what SIMD registers hold; every combination of them. */
export const small = {
  rows: [1, 3, 17],
  units: [1, 5, 33, 128],
  classes: [1, 2, 7, 130],
  features: [1, 40, 300],
} as const;

/** Sizes around those of blocks and panels, and several of them. */
export const large = {
  rows: [1, 2, 5, 8, 16, 31, 64, 130],
  units: [1, 5, 16, 33, 100, 128, 200],
  classes: [1, 95, 96, 97, 200, 1000],
  features: [1, 97, 2000],
} as const;

const updates = gradientKinds.filter((kind) => kind !== "none");

/** Each of `list` in turn. */
const turn = <T>(list: readonly T[], index: number): T => list[index % list.length]!;

/** All pairs of two lists, each with its number. */
function pairs<A, B, R>(
  left: readonly A[],
  right: readonly B[],
  make: (a: A, b: B, index: number) => R,
): readonly R[] {
  return left.flatMap((a, i) => right.map((b, j) => make(a, b, i * right.length + j)));
}

export function smallSparse(activation: Activation): readonly SparseShape[] {
  return small.rows.flatMap((rows) =>
    pairs(small.units, small.features, (units, features) => ({
      rows,
      features,
      units,
      activation,
    })),
  );
}

/** Every pair of rows and units; what else there is takes turns. */
export const largeSparse: readonly SparseShape[] = pairs(
  large.rows,
  large.units,
  (rows, units, i) => ({
    rows,
    features: turn(large.features, i),
    units,
    activation: turn(activations, i),
  }),
);

export function smallDense(activation: Activation): readonly DenseShape[] {
  return small.rows.flatMap((rows) =>
    pairs(small.units, small.units, (inputs, units) => ({ rows, inputs, units, activation })),
  );
}

export const largeDense: readonly DenseShape[] = pairs(
  large.units,
  large.units,
  (inputs, units, i) => ({
    rows: turn(large.rows, i),
    inputs,
    units,
    activation: turn(activations, i),
  }),
);

/** Each shape with every kind of gradient. */
export function withEveryGradient<S>(
  shapes: readonly S[],
): readonly (S & { readonly gradient: Exclude<GradientKind, "none"> })[] {
  return pairs(shapes, updates, (shape, gradient) => ({ ...shape, gradient }));
}

/** Each shape with one kind of gradient, which take turns. */
export function withSomeGradient<S>(
  shapes: readonly S[],
): readonly (S & { readonly gradient: Exclude<GradientKind, "none"> })[] {
  return shapes.map((shape, i) => ({ ...shape, gradient: turn(updates, i) }));
}

export const backwardShapes = (activation: Activation): readonly DenseShape[] =>
  pairs(
    small.rows,
    [
      [1, 1],
      [5, 33],
      [33, 5],
      [128, 128],
    ] as const,
    (rows, [inputs, units]) => ({ rows, inputs, units, activation }),
  );

export function smallOutput(loss: Loss, units: number): readonly OutputShape[] {
  return pairs(small.rows, small.classes, (rows, classes) =>
    pairs(gradientKinds, [true, false], (gradient, dHidden) => ({
      rows,
      units,
      classes,
      loss,
      gradient,
      dHidden,
    })),
  ).flat();
}

export function largeOutput(loss: Loss): readonly OutputShape[] {
  return pairs(large.rows, large.units, (rows, units, i) => ({
    rows,
    units,
    classes: turn(large.classes, i),
    loss,
    gradient: turn(gradientKinds, i),
    dHidden: i % 5 > 0,
  }));
}
