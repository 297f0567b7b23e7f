/** The checks of single operations: each runs one, at one shape, and compares with the reference. */
import type { Activation, DeviceArray, Loss } from "../kernels/contract.js";
import type { Bench, GradientKind, TwinArray } from "./bench.js";
import { outputRounding } from "./output-rounding.js";
import { randomBatch } from "./random-batch.js";

/** One operation at one shape. */
export type Operation<S> = <A extends DeviceArray, U>(
  bench: Bench<A, U>,
  shape: S,
) => Promise<void>;

export interface SparseShape {
  readonly rows: number;
  readonly features: number;
  readonly units: number;
  readonly activation: Activation;
}

export interface DenseShape {
  readonly rows: number;
  readonly inputs: number;
  readonly units: number;
  readonly activation: Activation;
}

export interface OutputShape {
  readonly rows: number;
  readonly units: number;
  readonly classes: number;
  readonly loss: Loss;
  readonly gradient: GradientKind;
  /** Whether the derivative by the hidden rows is asked for. */
  readonly dHidden: boolean;
}

interface WithGradient {
  readonly gradient: Exclude<GradientKind, "none">;
}

/** Outputs as the activation might have made them, its exact bounds and zeros among them. */
function activated<A extends DeviceArray, U>(
  { twin, uniform }: Bench<A, U>,
  activation: Activation,
  length: number,
): TwinArray<A> {
  const values = uniform(length);
  if (activation === "relu") return twin(values.map((value) => Math.max(value, 0)));
  if (activation === "sigmoid") return twin(values.map((value) => (value + 1) / 2));
  return twin(values);
}

export const gather: Operation<SparseShape> = async (
  bench,
  { rows, features, units, activation },
) => {
  const { kernels, reference } = bench;
  const batch = randomBatch(bench.random, rows, features, 3);
  const layer = bench.layer(features, units);
  const out = bench.twin(bench.uniform(rows * units + 5));
  kernels.gather(kernels.upload(batch, 0), layer.tested, activation, out.tested);
  reference.gather(batch, layer.reference, activation, out.reference);
  await bench.compare("out", out, rows * units);
};

export const dense: Operation<DenseShape> = async (bench, { rows, inputs, units, activation }) => {
  const { kernels, reference } = bench;
  const layer = bench.layer(inputs, units);
  const input = bench.twin(bench.uniform(rows * inputs + 3));
  const out = bench.twin(bench.uniform(rows * units + 5));
  kernels.dense(rows, input.tested, layer.tested, activation, out.tested);
  reference.dense(rows, input.reference, layer.reference, activation, out.reference);
  await bench.compare("out", out, rows * units);
};

export const output: Operation<OutputShape> = async (bench, shape) => {
  const { rows, units, classes, loss, dHidden: withHidden } = shape;
  const { kernels, reference } = bench;
  const batch = randomBatch(bench.random, rows, 9, classes);
  const layer = bench.layer(units, classes);
  const gradient = bench.gradient(shape.gradient, layer);
  const hidden = bench.twin(bench.uniform(rows * units + 3));
  const dHidden = bench.twin(bench.uniform(rows * units + 3));
  const losses = bench.twin(bench.uniform(rows + 2));
  // Before the layer changes.
  const { roundoff } = bench;
  const rounding = outputRounding(roundoff, batch, hidden.reference, layer.reference, loss);
  kernels.output(
    kernels.upload(batch, 1),
    hidden.tested,
    layer.tested,
    loss,
    gradient.tested,
    withHidden ? dHidden.tested : null,
    losses.tested,
  );
  reference.output(
    batch,
    hidden.reference,
    layer.reference,
    loss,
    gradient.reference,
    withHidden ? dHidden.reference : null,
    losses.reference,
  );
  await bench.compare("losses", losses, rows, rounding.losses);
  // Without dHidden the array must be as it was, wherever it lies.
  await bench.compare("dHidden", dHidden, rows * units, withHidden ? rounding.dHidden : 0);
  await gradient.check(rounding);
};

export const denseBackward: Operation<DenseShape & WithGradient> = async (
  bench,
  { rows, inputs, units, activation, gradient: kind },
) => {
  const { kernels, reference } = bench;
  const layer = bench.layer(inputs, units);
  const gradient = bench.gradient(kind, layer);
  const input = bench.twin(bench.uniform(rows * inputs + 3));
  const outputs = activated(bench, activation, rows * units + 3);
  const dOutputs = bench.twin(bench.uniform(rows * units + 3));
  const dInput = bench.twin(bench.uniform(rows * inputs + 3));
  kernels.denseBackward(
    rows,
    input.tested,
    layer.tested,
    activation,
    outputs.tested,
    dOutputs.tested,
    gradient.tested!,
    dInput.tested,
  );
  reference.denseBackward(
    rows,
    input.reference,
    layer.reference,
    activation,
    outputs.reference,
    dOutputs.reference,
    gradient.reference!,
    dInput.reference,
  );
  await bench.compare("dInput", dInput, rows * inputs);
  await gradient.check();
};

export const scatter: Operation<SparseShape & WithGradient> = async (
  bench,
  { rows, features, units, activation, gradient: kind },
) => {
  const { kernels, reference } = bench;
  const batch = randomBatch(bench.random, rows, features, 3);
  const layer = bench.layer(features, units);
  const gradient = bench.gradient(kind, layer);
  const outputs = activated(bench, activation, rows * units + 3);
  const dOutputs = bench.twin(bench.uniform(rows * units + 3));
  kernels.scatter(
    kernels.upload(batch, 0),
    layer.tested,
    activation,
    outputs.tested,
    dOutputs.tested,
    gradient.tested!,
  );
  reference.scatter(
    batch,
    layer.reference,
    activation,
    outputs.reference,
    dOutputs.reference,
    gradient.reference!,
  );
  await gradient.check();
};
