import {
  createNetwork,
  createPlainKernels,
  createTopK,
  parameterLayout,
  probability,
  type ModelShape,
} from "@heterosgd/model";
import { createBatchBuffers, gatherBatch, type Dataset } from "@heterosgd/sparse";
import { TrainerError } from "../errors.js";
import { requireFit } from "./data-fit.js";
import { batchLimits } from "./batch-limits.js";

/** A label and how likely the model holds it to be. */
export interface Prediction {
  readonly label: number;
  /** Probability, 0 to 1: of all labels together 1 under softmax, independent under sigmoid. */
  readonly score: number;
}

export interface PredictorOptions {
  readonly shape: ModelShape;
  /** Laid out by `parameterLayout(shape)`. */
  readonly parameters: Float32Array;
  /** Labels a row, at most as many as the network has. */
  readonly k: number;
  /** Leaves out labels scored below it. Default 0: none. */
  readonly threshold?: number;
  /** Rows that are scored at once. Default 128. */
  readonly batchRows?: number;
}

/** A model ready to score rows. One data set at a time. */
export interface Predictor {
  /**
   * The best labels of each row, best first, row by row in file order.
   *
   * @throws TrainerError DATA_MISMATCH, NOT_FINITE; RangeError if `k` exceeds the labels.
   */
  predict(dataset: Dataset): AsyncGenerator<readonly Prediction[]>;
  /** Gives the kernels' memory back. */
  close(): Promise<void>;
}

/** Takes what scoring needs, once for any number of data sets. */
export function createPredictor(options: PredictorOptions): Predictor {
  const { shape, parameters, k, threshold = 0, batchRows = 128 } = options;
  const kernels = createPlainKernels();
  const network = createNetwork(kernels, parameterLayout(shape), { maxRows: batchRows });
  const top = createTopK(batchRows, k);

  function predictionsOf(row: number): readonly Prediction[] {
    const predictions: Prediction[] = [];
    for (let i = row * k; i < (row + 1) * k; i++) {
      const score = probability(top.logits[i]!, top.logSumExp[row]!, shape.loss);
      if (score >= threshold) predictions.push({ label: top.ids[i]!, score });
    }
    return predictions;
  }

  return {
    async *predict(dataset) {
      requireFit("data set", dataset, shape);
      const batch = createBatchBuffers(batchLimits(batchRows, [dataset]));
      const order = Uint32Array.from({ length: dataset.rows }, (_, row) => row);
      for (let start = 0; start < dataset.rows; start += batchRows) {
        const rows = Math.min(batchRows, dataset.rows - start);
        gatherBatch(dataset, order, start, rows, batch);
        await network.predict(kernels.upload(batch, 0), rows, parameters, k, top);
        for (let row = 0; row < rows; row++) {
          if (!Number.isFinite(top.logSumExp[row])) throw notFinite(start + row);
          yield predictionsOf(row);
        }
      }
    },
    close: async () => kernels.dispose(),
  };
}

export interface PredictOptions extends PredictorOptions {
  readonly dataset: Dataset;
}

/**
 * `createPredictor` for one data set: the best labels of each row, best first, row by row in file
 * order.
 *
 * @throws TrainerError DATA_MISMATCH, NOT_FINITE; RangeError if `k` exceeds the labels.
 */
export async function* predict(options: PredictOptions): AsyncGenerator<readonly Prediction[]> {
  const predictor = createPredictor(options);
  try {
    yield* predictor.predict(options.dataset);
  } finally {
    await predictor.close();
  }
}

function notFinite(row: number): TrainerError {
  return new TrainerError(
    "NOT_FINITE",
    `the scores of row ${row} are not finite; the model's weights or the row's values are too large`,
  );
}
