/** The arithmetic of training in float64: gradients of the real network at any parameters. */
import { createNetwork, createPlainKernels, parameterLayout } from "@heterosgd/model";
import { countRows, type RowRange } from "@heterosgd/scheduler";
import { createBatchBuffers, fillPermutation, gatherBatch } from "@heterosgd/sparse";
import type { TrainOptions } from "../src/index.js";
import { batchLimits } from "../src/run/batch-limits.js";

export type Vector = Float64Array<ArrayBuffer>;

/** The sum of the rows' gradients, and of their losses. */
export interface Gradient {
  readonly sum: Vector;
  readonly loss: number;
}

/** Σ coefficient · vector. */
export function combine(...terms: readonly (readonly [number, Vector])[]): Vector {
  const result = new Float64Array(terms[0]![1].length);
  for (const [coefficient, vector] of terms) {
    for (let i = 0; i < result.length; i++) result[i]! += coefficient * vector[i]!;
  }
  return result;
}

export type GradientOf = (rows: readonly RowRange[], parameters: Vector) => Promise<Gradient>;

export function exactGradients({
  train,
  shape,
  seed,
}: Pick<TrainOptions, "train" | "shape" | "seed">): GradientOf {
  const layout = parameterLayout(shape);
  const double = (length: number): Vector => new Float64Array(length);
  const network = createNetwork(createPlainKernels({ allocate: double }), layout, {
    maxRows: train.rows,
  });
  const batch = createBatchBuffers(batchLimits(train.rows, [train]));
  const orders = new Map<number, Uint32Array>();

  function orderOf(epoch: number): Uint32Array {
    const known = orders.get(epoch);
    if (known !== undefined) return known;
    const order = new Uint32Array(train.rows);
    fillPermutation(order, seed, epoch);
    orders.set(epoch, order);
    return order;
  }

  return async (ranges, parameters) => {
    const rows = ranges.flatMap(({ epoch, start, count }) => [
      ...orderOf(epoch).subarray(start, start + count),
    ]);
    const count = countRows(ranges);
    gatherBatch(train, Uint32Array.from(rows), 0, count, batch);
    const sum = double(layout.length);
    const target = { kind: "add", target: sum, scale: 1 } as const;
    return { sum, loss: await network.train(batch, count, parameters, target) };
  };
}
