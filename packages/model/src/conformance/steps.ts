/**
 * The checks of whole training steps: operations that are right one by one must be so in a chain,
 * and many steps in one call must be those steps.
 */
import type { Batch, DeviceArray, Loss, UpdateRule } from "../kernels/contract.js";
import { parameterLayout } from "../network/layout.js";
import { optimizerStateArrays } from "../network/memory.js";
import { createNetwork, type FlatGradientTarget } from "../network/network.js";
import type { Bench, TwinArray } from "./bench.js";
import { randomBatch } from "./random-batch.js";

const rules: readonly (UpdateRule | null)[] = [
  null,
  { name: "adagrad", epsilon: 0.1 },
  { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0.1 },
];

export const stepsAgree =
  (loss: Loss) =>
  async <A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> => {
    const { kernels, reference, random } = bench;
    const shape = { features: 60, hidden: [9, 17], labels: 70, activation: "tanh", loss } as const;
    const layout = parameterLayout(shape);
    const tested = createNetwork(kernels, layout, { maxRows: 20 });
    const expected = createNetwork(reference, layout, { maxRows: 20 });
    for (const rule of rules) {
      const weights = bench.twin(bench.uniform(layout.length, -0.5, 0.5));
      const state = Array.from({ length: optimizerStateArrays(rule) }, () =>
        bench.twin(new Float32Array(layout.length)),
      );
      for (let step = 1; step <= 3; step++) {
        const batch = randomBatch(random, 21 - 3 * step, shape.features, shape.labels);
        const { rows } = batch;
        const target = <T extends DeviceArray>(
          pick: (twin: TwinArray<A>) => T,
        ): FlatGradientTarget<T> => {
          const common = { target: pick(weights), scale: 1 / rows };
          return rule === null
            ? { ...common, kind: "add", scale: -0.5 / rows }
            : { ...common, kind: "rule", rule, learningRate: 0.1, step, state: state.map(pick) };
        };
        const uploaded = kernels.upload(batch, 0);
        const actualLoss = await tested.train(
          uploaded,
          rows,
          weights.tested,
          target((twin) => twin.tested),
        );
        const expectedLoss = await expected.train(
          batch,
          rows,
          weights.reference,
          target((twin) => twin.reference),
        );
        const what = `${rule?.name ?? "SGD"}, step ${step}`;
        bench.compareHost(`${what}, loss`, [actualLoss], [expectedLoss]);
        await bench.compare(`${what}, parameters`, weights);
      }
    }
  };

/** Small: errors of many large steps would grow beyond any tolerance. */
const RATE = 0.01;

/** Rows of a batch, and rows of each step on it. */
const oneStep = [
  [1, 1],
  [7, 8],
  [40, 40],
] as const;
const manySteps = [
  [5, 1],
  [12, 4],
  [19, 8],
  [11, 2],
] as const;

/**
 * `trainMicroBatches`, where the kernels have it, against the reference's steps one after another.
 * Without locks steps don't see each other whole, so that what several in one call come to depends on
 * their timing.
 *
 * @param severalSteps - compare calls of several steps too, which is right for one thread only.
 */
export const microBatchesAgree =
  (loss: Loss, severalSteps: boolean) =>
  async <A extends DeviceArray, U>(bench: Bench<A, U>): Promise<void> => {
    const { kernels, reference, random } = bench;
    for (const hidden of [[16], [33], [9, 17], [5, 128, 12]]) {
      const shape = { features: 60, hidden, labels: 101, activation: "tanh", loss } as const;
      const layout = parameterLayout(shape);
      const tested = createNetwork(kernels, layout, { maxRows: 40 });
      if (tested.trainMicroBatches === undefined) return;
      const expected = createNetwork(reference, layout, { maxRows: 40 });
      for (const [rows, microRows] of severalSteps ? [...oneStep, ...manySteps] : oneStep) {
        const weights = bench.twin(bench.uniform(layout.length, -0.5, 0.5));
        const batch = randomBatch(random, rows, shape.features, shape.labels);
        const actualLoss = await tested.trainMicroBatches(
          kernels.upload(batch, 1),
          rows,
          microRows,
          weights.tested,
          RATE,
        );
        let expectedLoss = 0;
        for (let from = 0; from < rows; from += microRows) {
          const part = rowsOf(batch, from, Math.min(microRows, rows - from));
          expectedLoss += await expected.train(part, part.rows, weights.reference, {
            kind: "add",
            target: weights.reference,
            scale: -RATE / part.rows,
          });
        }
        const what = `${hidden.join(", ")} units, ${rows} rows by ${microRows}`;
        bench.compareHost(`${what}, loss`, [actualLoss], [expectedLoss]);
        await bench.compare(`${what}, parameters`, weights);
      }
    }
  };

/** Some rows of a batch as a batch. */
function rowsOf(batch: Batch, start: number, rows: number): Batch {
  const part = (offsets: Uint32Array) => {
    const from = offsets[start]!;
    const to = offsets[start + rows]!;
    const own = offsets.slice(start, start + rows + 1).map((offset) => offset - from);
    return { from, to, own };
  };
  const features = part(batch.offsets);
  const labels = part(batch.labelOffsets);
  return {
    rows,
    offsets: features.own,
    indices: batch.indices.slice(features.from, features.to),
    values: batch.values.slice(features.from, features.to),
    labelOffsets: labels.own,
    labels: batch.labels.slice(labels.from, labels.to),
  };
}
