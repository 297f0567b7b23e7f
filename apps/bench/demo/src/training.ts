import {
  addMetrics,
  createMetrics,
  createNetwork,
  createTopK,
  initialise,
  metricsOf,
  parameterLayout,
  optimizerStateArrays,
  rowNorm,
  type DeviceArray,
  type Kernels,
  type ModelShape,
  type UpdateRule,
} from "@heterosgd/model";
import {
  createBatchBuffers,
  fillPermutation,
  gatherBatch,
  maxEntriesOfRows,
  type Dataset,
} from "@heterosgd/sparse";
import type { Sample } from "./sample.js";

export interface TrainingSettings {
  /** Units of the hidden layer. */
  readonly hidden: number;
  readonly batchRows: number;
  readonly learningRate: number;
  readonly seed: number;
}

/** What an update came to. */
export interface Update {
  /** Mean over its rows, before it. */
  readonly loss: number;
  readonly rows: number;
}

/** A network of one hidden layer and softmax, trained on one device by `rule`. */
export interface Training {
  readonly shape: ModelShape;
  /** Updates that an epoch has. */
  readonly updatesPerEpoch: number;
  /** Trains on the next rows; epoch after epoch, each in an order of its own. */
  update(): Promise<Update>;
  /** P@1 over a quarter of the held-out rows. `pause` is awaited between batches; true from it ends it with null. */
  evaluate(pause: () => Promise<boolean>): Promise<number | null>;
}

/** One held-out row of so many is evaluated: on a software renderer all would take too long. */
const EVALUATE_EACH = 4;
const rule: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** Takes all memory of the device that it will need. */
export function createTraining<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  { train, heldOut }: Sample,
  { hidden, batchRows, learningRate, seed }: TrainingSettings,
): Training {
  const shape: ModelShape = {
    features: train.features.columns,
    hidden: [hidden],
    labels: train.labels.columns,
    activation: "relu",
    loss: "softmax",
  };
  const layout = parameterLayout(shape);
  const network = createNetwork(kernels, layout, { maxRows: batchRows });
  const weights = kernels.allocate(layout.length);
  const initial = new Float32Array(layout.length);
  initialise(layout, initial, seed, { rowNorm: rowNorm(train.features) });
  kernels.write(initial, weights);
  const state = Array.from({ length: optimizerStateArrays(rule) }, () =>
    kernels.allocate(layout.length),
  );

  const most = (offsets: (dataset: Dataset) => Uint32Array) =>
    Math.max(1, ...[train, heldOut].map((data) => maxEntriesOfRows(offsets(data), batchRows)));
  const batch = createBatchBuffers({
    rows: batchRows,
    nonZeros: most((data) => data.features.offsets),
    labels: most((data) => data.labels.offsets),
  });
  const order = new Uint32Array(train.rows);
  const evaluated = Uint32Array.from(
    { length: Math.ceil(heldOut.rows / EVALUATE_EACH) },
    (_, i) => i * EVALUATE_EACH,
  );
  const top = createTopK(batchRows, 1);
  let updates = 0;
  let epoch = -1;
  let next = train.rows;

  return {
    shape,
    updatesPerEpoch: Math.ceil(train.rows / batchRows),

    async update() {
      if (next >= train.rows) {
        fillPermutation(order, seed, ++epoch);
        next = 0;
      }
      const rows = Math.min(batchRows, train.rows - next);
      gatherBatch(train, order, next, rows, batch);
      next += rows;
      const sum = await network.train(kernels.upload(batch, 0), rows, weights, {
        kind: "rule",
        target: weights,
        scale: 1 / rows,
        rule,
        learningRate,
        step: ++updates,
        state,
      });
      return { loss: sum / rows, rows };
    },

    async evaluate(pause) {
      const sums = createMetrics([1]);
      for (let start = 0; start < evaluated.length; start += batchRows) {
        if (await pause()) return null;
        const rows = Math.min(batchRows, evaluated.length - start);
        gatherBatch(heldOut, evaluated, start, rows, batch);
        await network.predict(kernels.upload(batch, 0), rows, weights, 1, top);
        addMetrics(sums, batch, top.ids, 1);
      }
      return metricsOf(sums).precision[0]!;
    },
  };
}
