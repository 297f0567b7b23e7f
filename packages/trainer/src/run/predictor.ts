import {
  createNetwork,
  createTopK,
  parameterLayout,
  probability,
  type ModelShape,
} from "@heterosgd/model";
import { createBatchBuffers, gatherBatch, type Dataset } from "@heterosgd/sparse";
import { createDeviceKernels } from "../device/device-kernels.js";
import { createKernelMemory, kernelsSetup, type KernelMemory } from "../device/kernel-memory.js";
import { TrainerError } from "../errors.js";
import { chooseForProcessors, type KernelsOptions } from "./choose-kernels.js";
import { requireFit } from "./data-fit.js";
import { batchLimits } from "./batch-limits.js";

/** A label and how likely the model holds it to be. */
export interface Prediction {
  readonly label: number;
  /** Probability, 0 to 1: of all labels together 1 under softmax, independent under sigmoid. */
  readonly score: number;
}

export interface PredictorOptions extends KernelsOptions {
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
  /** What runs, as the kernels name themselves. */
  readonly kernels: string;
  /**
   * The best labels of each row, best first, row by row in file order.
   *
   * @throws TrainerError DATA_MISMATCH, NOT_FINITE; RangeError if `k` exceeds the labels.
   */
  predict(dataset: Dataset): AsyncGenerator<readonly Prediction[]>;
  /** Gives the kernels' memory back. */
  close(): Promise<void>;
}

const oneThread = { kind: "cpu", threads: 1, speed: 1, role: "host" } as const;

/** Parameters where the kernels can reach them: those in WebAssembly know only their own memory. */
function reachable(parameters: Float32Array, memory: KernelMemory): Float32Array {
  if (memory.wasm === null) return parameters;
  const copy = memory.allocate(parameters.length);
  copy.set(parameters);
  return copy;
}

/**
 * Takes what scoring needs, once for any number of data sets.
 *
 * @throws TrainerError KERNELS_UNAVAILABLE
 */
export function createPredictor(options: PredictorOptions): Predictor {
  const { shape, k, threshold = 0, batchRows = 128 } = options;
  const chosen = chooseForProcessors([oneThread], options).kernels[0]!;
  const memory = createKernelMemory([chosen]);
  const kernels = createDeviceKernels(kernelsSetup(chosen, memory));
  const weights = reachable(options.parameters, memory);
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
    kernels: kernels.name,
    async *predict(dataset) {
      requireFit("data set", dataset, shape);
      const batch = createBatchBuffers(batchLimits(batchRows, [dataset]));
      const order = Uint32Array.from({ length: dataset.rows }, (_, row) => row);
      for (let start = 0; start < dataset.rows; start += batchRows) {
        const rows = Math.min(batchRows, dataset.rows - start);
        gatherBatch(dataset, order, start, rows, batch);
        await network.predict(kernels.upload(batch, 0), rows, weights, k, top);
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
