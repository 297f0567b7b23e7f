/**
 * A model of two parameters in float64, whose rows each pull it towards a point of their own:
 * ℓ(w) = ½ Σ_k a_k (w_k − t_k)². It also knows which updates it is made of.
 */
import type { RowRange } from "../src/index.js";

export interface ToyModel {
  readonly w: readonly number[];
  /** Numbers of the commands (steps and accumulations) whose work has reached it. */
  readonly made: ReadonlySet<number>;
}

export const zero: ToyModel = { w: [0, 0], made: new Set() };

/** Where every run starts. */
export const initial: ToyModel = { w: [1, -2], made: new Set() };

/** Σ∇ℓ(w) over the rows. */
export function gradient(rows: readonly RowRange[], w: readonly number[]): readonly number[] {
  const [w0 = 0, w1 = 0] = w;
  let g0 = 0;
  let g1 = 0;
  for (const { epoch, start, count } of rows) {
    for (let position = start; position < start + count; position++) {
      g0 += (0.5 + noise(epoch, position, 0) / 2) * (w0 - 4 * noise(epoch, position, 1) + 2);
      g1 += (0.5 + noise(epoch, position, 2) / 2) * (w1 - 4 * noise(epoch, position, 3) + 2);
    }
  }
  return [g0, g1];
}

/** w + Σ coefficient · other. */
export function plus(
  w: readonly number[],
  ...others: readonly (readonly [number, readonly number[]])[]
): readonly number[] {
  return w.map((value, k) =>
    others.reduce((total, [coefficient, other]) => total + coefficient * (other[k] ?? 0), value),
  );
}

/** w after one update for each `microBatchRows` of the rows, or a single one. */
export function descend(
  rows: readonly RowRange[],
  w: readonly number[],
  learningRate: number,
  microBatchRows = Infinity,
): readonly number[] {
  const single = rows.flatMap(({ epoch, start, count }) =>
    Array.from({ length: count }, (_, i): RowRange => ({ epoch, start: start + i, count: 1 })),
  );
  let current = w;
  for (let first = 0; first < single.length; first += microBatchRows) {
    const batch = single.slice(first, first + microBatchRows);
    current = plus(current, [-learningRate / batch.length, gradient(batch, current)]);
  }
  return current;
}

/** From 0 to 1, the same for the same row. */
function noise(epoch: number, position: number, k: number): number {
  let x = Math.imul(epoch * 7919 + position * 4 + k + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}
