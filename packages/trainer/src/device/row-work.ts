/** What a device does with rows: gather them into its batch, train on them, evaluate them. */
import {
  addMetrics,
  createMetrics,
  type DeviceArray,
  type FlatGradientTarget,
  type MetricSums,
} from "@heterosgd/model";
import { gatherBatch } from "@heterosgd/sparse";
import type { EvaluateCall, RowSpan } from "./api.js";
import type { OpenDevice } from "./open-device.js";

export function countRows(spans: readonly RowSpan[]): number {
  return spans.reduce((sum, { count }) => sum + count, 0);
}

/** Fills the batch with rows `from … from + count − 1` of those that the spans name together. */
function fillBatch(
  { batch, train }: OpenDevice,
  permutations: readonly Uint32Array[],
  spans: readonly RowSpan[],
  from: number,
  count: number,
): void {
  if (train === null) throw new TypeError("the device was opened without training rows");
  let before = 0;
  let filled = 0;
  for (const span of spans) {
    const first = Math.max(from - before, 0);
    const take = Math.min(span.count - first, count - filled);
    if (take > 0) {
      gatherBatch(train, permutations[span.permutation]!, span.start + first, take, batch, filled);
      filled += take;
    }
    before += span.count;
  }
}

/**
 * Trains on the spans' rows, `microBatchRows` at a time (null: all at once), at `weights`.
 *
 * @param destination - where the gradient of a batch of so many rows goes.
 */
export async function trainRows(
  device: OpenDevice,
  permutations: readonly Uint32Array[],
  spans: readonly RowSpan[],
  microBatchRows: number | null,
  weights: DeviceArray,
  destination: (rows: number) => FlatGradientTarget<DeviceArray>,
): Promise<{ nonZeros: number; loss: number }> {
  const { kernels, network, batch } = device;
  const rows = countRows(spans);
  const step = microBatchRows ?? rows;
  let nonZeros = 0;
  let loss = 0;
  for (let from = 0; from < rows; from += step) {
    const count = Math.min(step, rows - from);
    fillBatch(device, permutations, spans, from, count);
    loss += await network.train(kernels.upload(batch, 0), count, weights, destination(count));
    nonZeros += batch.offsets[count]!;
  }
  return { nonZeros, loss };
}

/**
 * Trains on the spans' rows by plain SGD in place, `microBatchRows` at a time, with as many steps in
 * one call of the kernels as there is room for rows.
 */
export async function trainMicroBatches(
  device: OpenDevice,
  permutations: readonly Uint32Array[],
  spans: readonly RowSpan[],
  microBatchRows: number,
  weights: DeviceArray,
  learningRate: number,
): Promise<{ nonZeros: number; loss: number }> {
  const { kernels, network, batch, setup } = device;
  if (network.trainMicroBatches === undefined) {
    throw new TypeError(`the kernels ${kernels.name} take no micro-batches`);
  }
  const rows = countRows(spans);
  const most = Math.max(1, Math.floor(setup.limits.rows / microBatchRows)) * microBatchRows;
  let nonZeros = 0;
  let loss = 0;
  for (let from = 0; from < rows; from += most) {
    const count = Math.min(most, rows - from);
    fillBatch(device, permutations, spans, from, count);
    const uploaded = kernels.upload(batch, 0);
    loss += await network.trainMicroBatches(uploaded, count, microBatchRows, weights, learningRate);
    nonZeros += batch.offsets[count]!;
  }
  return { nonZeros, loss };
}

export async function evaluateRows(
  device: OpenDevice,
  weights: DeviceArray,
  call: EvaluateCall,
): Promise<MetricSums> {
  const { evaluation, evaluationOrder, setup, batch, kernels, network, top, k } = device;
  if (evaluation === null) throw new TypeError("the device was opened without evaluation rows");
  const sums = createMetrics(setup.cutoffs);
  const end = call.start + call.count;
  for (let start = call.start; start < end; start += setup.limits.rows) {
    const count = Math.min(setup.limits.rows, end - start);
    gatherBatch(evaluation, evaluationOrder, start, count, batch);
    await network.predict(kernels.upload(batch, 0), count, weights, k, top);
    addMetrics(sums, batch, top.ids, k);
  }
  return sums;
}
