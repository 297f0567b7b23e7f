/** What a device does with rows: train on them, evaluate them. */
import {
  addMetrics,
  createMetrics,
  type DeviceArray,
  type FlatGradientTarget,
  type MetricSums,
} from "@heterosgd/model";
import { gatherBatch } from "@heterosgd/sparse";
import type { EvaluateCall, RowSpan } from "./api.js";
import type { BatchSource } from "./batch-feed.js";
import type { OpenDevice } from "./open-device.js";

export function countRows(spans: readonly RowSpan[]): number {
  return spans.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The spans' rows in batches of so many.
 *
 * @param permutations - must have those of the spans when the first batch is filled.
 */
export function trainingRows(
  { train }: OpenDevice,
  permutations: readonly Uint32Array[],
  spans: readonly RowSpan[],
  batchRows: number,
): BatchSource {
  if (train === null) throw new TypeError("the device was opened without training rows");
  return {
    rows: countRows(spans),
    batchRows,
    fill(batch, from, count) {
      let before = 0;
      let filled = 0;
      for (const span of spans) {
        const first = Math.max(from - before, 0);
        const take = Math.min(span.count - first, count - filled);
        if (take > 0) {
          const order = permutations[span.permutation]!;
          gatherBatch(train, order, span.start + first, take, batch, filled);
          filled += take;
        }
        before += span.count;
      }
    },
  };
}

/** What training came to. */
export interface Trained {
  readonly nonZeros: number;
  /** Sum of the rows' losses. */
  readonly loss: number;
}

/** What to train on now, and next. */
export interface TrainingWork {
  readonly source: BatchSource;
  readonly following: () => BatchSource | null;
}

/**
 * Trains at `weights`, batch by batch.
 *
 * @param destination - where the gradient of a batch of so many rows goes.
 */
export async function trainRows(
  { feed, network }: OpenDevice,
  { source, following }: TrainingWork,
  weights: DeviceArray,
  destination: (rows: number) => FlatGradientTarget<DeviceArray>,
): Promise<Trained> {
  let nonZeros = 0;
  let loss = 0;
  await feed.forEach(
    source,
    async ({ uploaded, rows, batch }) => {
      const seen = network.train(uploaded, rows, weights, destination(rows));
      nonZeros += batch.offsets[rows]!;
      loss += await seen;
    },
    following,
  );
  return { nonZeros, loss };
}

/** Rows of the largest batch that holds whole micro-batches only, one at least. */
export function microBatchesRows({ setup }: OpenDevice, microBatchRows: number): number {
  return Math.max(1, Math.floor(setup.limits.rows / microBatchRows)) * microBatchRows;
}

/**
 * Trains by plain SGD in place, `microBatchRows` at a time, all steps of a batch in one call of the
 * kernels.
 */
export async function trainMicroBatches(
  { feed, network, kernels }: OpenDevice,
  { source, following }: TrainingWork,
  microBatchRows: number,
  weights: DeviceArray,
  learningRate: number,
): Promise<Trained> {
  if (network.trainMicroBatches === undefined) {
    throw new TypeError(`the kernels ${kernels.name} take no micro-batches`);
  }
  const train = network.trainMicroBatches;
  let nonZeros = 0;
  let loss = 0;
  await feed.forEach(
    source,
    async ({ uploaded, rows, batch }) => {
      const seen = train(uploaded, rows, microBatchRows, weights, learningRate);
      nonZeros += batch.offsets[rows]!;
      loss += await seen;
    },
    following,
  );
  return { nonZeros, loss };
}

export async function evaluateRows(
  { evaluation, evaluationOrder, setup, feed, network, top, k }: OpenDevice,
  weights: DeviceArray,
  { start, count: rows }: EvaluateCall,
): Promise<MetricSums> {
  if (evaluation === null) throw new TypeError("the device was opened without evaluation rows");
  const sums = createMetrics(setup.cutoffs);
  const source: BatchSource = {
    rows,
    batchRows: setup.limits.rows,
    fill: (batch, from, count) =>
      gatherBatch(evaluation, evaluationOrder, start + from, count, batch),
  };
  await feed.forEach(source, async ({ uploaded, rows: count, batch }) => {
    await network.predict(uploaded, count, weights, k, top);
    addMetrics(sums, batch, top.ids, k);
  });
  return sums;
}
