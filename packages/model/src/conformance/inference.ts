/** The checks of top-k. */
import type { DeviceArray } from "../kernels/contract.js";
import type { Bench, TwinLayer } from "./bench.js";
import type { Operation } from "./operations.js";
import { large, small } from "./shapes.js";

interface Ranking {
  readonly ids: Uint32Array;
  readonly logits: Float32Array;
  readonly logSumExp: Float32Array;
}

async function rank<A extends DeviceArray, U>(
  { kernels }: Bench<A, U>,
  rows: number,
  hidden: A,
  layer: TwinLayer<A>,
  k: number,
): Promise<Ranking> {
  const ids = new Uint32Array(rows * k);
  const logits = new Float32Array(rows * k);
  const logSumExp = new Float32Array(rows);
  await kernels.topK(rows, hidden, layer.tested, k, ids, logits, logSumExp);
  return { ids, logits, logSumExp };
}

export interface TopKShape {
  readonly rows: number;
  readonly units: number;
  readonly classes: number;
  readonly k: number;
}

/**
 * Best logits agree; where nearly equal ones might change places, each class's logit must be its
 * own.
 */
export const topK: Operation<TopKShape> = async (bench, { rows, units, classes, k }) => {
  const { reference } = bench;
  const layer = bench.layer(units, classes);
  const hidden = bench.twin(bench.uniform(rows * units + 3));
  const { ids, logits, logSumExp } = await rank(bench, rows, hidden.tested, layer, k);

  const expectedIds = new Uint32Array(rows * classes);
  const ordered = new Float32Array(rows * classes);
  const expectedSums = new Float32Array(rows);
  await reference.topK(
    rows,
    hidden.reference,
    layer.reference,
    classes,
    expectedIds,
    ordered,
    expectedSums,
  );
  bench.compareHost("logSumExp", logSumExp, expectedSums);
  for (let row = 0; row < rows; row++) {
    const at = row * classes;
    const own = ids.subarray(row * k, (row + 1) * k);
    const best = logits.subarray(row * k, (row + 1) * k);
    bench.compareHost(`row ${row}, logits`, best, ordered.subarray(at, at + k));
    if (new Set(own).size < k) throw new Error(`row ${row} names a class twice`);
    const logitOf = new Map<number, number>();
    for (let i = 0; i < classes; i++) logitOf.set(expectedIds[at + i]!, ordered[at + i]!);
    const named = [...own].map((id) => logitOf.get(id) ?? NaN);
    bench.compareHost(`row ${row}, logits of the ids`, best, named);
  }
};

export const smallTopK: readonly TopKShape[] = small.rows.flatMap((rows) =>
  small.units.flatMap((units) =>
    small.classes.flatMap((classes) =>
      [...new Set([1, Math.min(5, classes), classes])].map((k) => ({ rows, units, classes, k })),
    ),
  ),
);

export const largeTopK: readonly TopKShape[] = large.rows.flatMap((rows, i) =>
  large.classes.map((classes, j) => ({
    rows,
    units: large.units[(i * large.classes.length + j) % large.units.length]!,
    classes,
    k: Math.min(classes, [1, 5, 100, classes][(i + j) % 4]!),
  })),
);

/**
 * Small whole numbers, exact in any arithmetic, give many equal logits: lower classes must come
 * first.
 */
export async function topKBreaksTies<A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> {
  const rows = 3;
  const units = 4;
  const classes = 130;
  const k = 20;
  const whole = (length: number) => bench.uniform(length, -1, 2).map(Math.floor);
  const weights = bench.twin(whole(classes * units));
  const bias = bench.twin(whole(classes));
  const layer: TwinLayer<A> = {
    tested: { inputs: units, outputs: classes, weights: weights.tested, bias: bias.tested },
    reference: {
      inputs: units,
      outputs: classes,
      weights: weights.reference,
      bias: bias.reference,
    },
  };
  const hidden = bench.twin(whole(rows * units));
  const { ids, logits } = await rank(bench, rows, hidden.tested, layer, k);
  for (let row = 0; row < rows; row++) {
    const scores = Array.from({ length: classes }, (_, id) => {
      let logit = bias.reference[id]!;
      for (let j = 0; j < units; j++) {
        logit += hidden.reference[row * units + j]! * weights.reference[id * units + j]!;
      }
      return { id, logit };
    });
    const expected = scores.toSorted((a, b) => b.logit - a.logit || a.id - b.id).slice(0, k);
    for (const [i, { id, logit }] of expected.entries()) {
      const at = row * k + i;
      if (ids[at] !== id || logits[at] !== logit) {
        const actual = `class ${ids[at]} with logit ${logits[at]}`;
        throw new Error(`row ${row}, rank ${i + 1}: ${actual}, not class ${id} with ${logit}`);
      }
    }
  }
}
