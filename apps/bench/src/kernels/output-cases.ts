/** Operations on the output layer, and whole small steps. */
import { createRandom } from "@heterosgd/sparse";
import { madeUpBatch } from "../made-up-batches.js";
import {
  grouped,
  hiddenRows,
  inPlace,
  layerOf,
  NON_ZEROS,
  RATE,
  type Case,
  type Sizes,
  type TakeArray,
} from "./case.js";
import { openBlasOutput } from "./openblas.js";

const TOP = 5;
/** Features of the small steps. */
const MICRO_FEATURES = 100_000;

/** SGD in place: logits, softmax, loss, both gradients, update. */
export function outputCase({ rows, hidden: width }: Sizes, classes: number): Case {
  const shape = { rows, features: 1000, classes, nonZeros: 4, draw: "uniform" } as const;
  const batch = madeUpBatch(createRandom(3, classes), shape);
  const arrays = (array: TakeArray) => ({
    layer: layerOf(array, width, classes),
    hidden: hiddenRows(array, rows * width),
    dHidden: array("dHidden", rows * width),
    losses: array("losses", rows),
  });
  return {
    operation: "output",
    title: `output layer, ${grouped(classes)} classes, ${rows} rows, ${width} units`,
    unit: "GFLOP/s",
    amount: 6 * rows * classes * width,
    limit: "peak",
    prepare({ kernels, array }) {
      const { layer, hidden, dHidden, losses } = arrays(array);
      const uploaded = kernels.upload(batch, 0);
      const target = inPlace(layer, rows);
      return {
        run: () => kernels.output(uploaded, hidden, layer, "softmax", target, dHidden, losses),
        losses,
        dHidden,
      };
    },
    rival(array, openBlas, softmax, threads) {
      const { layer, ...others } = arrays(array);
      const { weights, bias } = layer;
      const scale = -RATE / rows;
      const step = { batch, units: width, classes, weights, bias, scale, ...others };
      const run = openBlasOutput(openBlas, softmax, step, threads, (length) =>
        array(`work ${length}`, length),
      );
      return { run, losses: others.losses, dHidden: others.dHidden };
    },
  };
}

export function topKCase({ rows, hidden: width }: Sizes, classes: number): Case {
  return {
    operation: "top-k",
    title: `best ${TOP} of ${grouped(classes)} classes, ${rows} rows, ${width} units`,
    unit: "rows/s",
    amount: rows,
    limit: null,
    prepare({ kernels, array }) {
      const layer = layerOf(array, width, classes);
      const hidden = hiddenRows(array, rows * width);
      const ids = new Uint32Array(rows * TOP);
      const logits = new Float32Array(rows * TOP);
      const logSumExp = new Float32Array(rows);
      return { run: () => kernels.topK(rows, hidden, layer, TOP, ids, logits, logSumExp) };
    },
  };
}

/** Whole steps of a few rows each, many in one call. */
export function microCase({ rows, hidden: width }: Sizes, classes: number, step: number): Case {
  const features = MICRO_FEATURES;
  const shape = { rows, features, classes, nonZeros: NON_ZEROS, draw: "log-uniform" } as const;
  const batch = madeUpBatch(createRandom(8, classes), shape);
  return {
    operation: "micro-batches",
    title: `whole steps of ${step} row${step === 1 ? "" : "s"} in one call, ${grouped(features)} features, ${grouped(classes)} classes`,
    unit: "rows/s",
    amount: rows,
    limit: null,
    prepare({ kernels, array }) {
      if (kernels.trainMicroBatches === undefined) return null;
      const layers = [layerOf(array, features, width), layerOf(array, width, classes)];
      const losses = array("losses", rows);
      const uploaded = kernels.upload(batch, 0);
      return {
        run: () =>
          kernels.trainMicroBatches?.(uploaded, layers, "relu", "softmax", step, RATE, losses),
      };
    },
  };
}
