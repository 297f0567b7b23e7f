/** Operations on the first layer, and on whole models. */
import type { Batch, GradientTarget, Layer } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { madeUpBatch, nonZerosOf, type MadeUpRows } from "../made-up-batches.js";
import { sum } from "../statistics.js";
import {
  fillUniform,
  grouped,
  hiddenRows,
  inPlace,
  layerOf,
  NON_ZEROS,
  type Case,
  type Sizes,
  type Workplace,
} from "./case.js";

type Draw = MadeUpRows["draw"];

/** Features of Delicious-200K, the most of the large public data sets. */
const FEATURES = 782_585;
/** Features of Amazon-670k. */
const ADAM_FEATURES = 135_909;
const BLENDED = 24 * 2 ** 20;

export function gatherCase({ rows, hidden: width }: Sizes, draw: Draw): Case {
  const batches = sparseBatches(rows, FEATURES, draw);
  return {
    operation: "gather",
    title: `first layer forward, ${grouped(FEATURES)} features, ${draw}, ${rows} rows`,
    unit: "GB/s",
    amount: meanOver(batches, nonZerosOf) * width * 4,
    limit: "read",
    prepare(place) {
      const { kernels, array } = place;
      const layer = layerOf(array, FEATURES, width);
      const out = array("out", rows * width);
      return { run: inTurn(place, batches, (batch) => kernels.gather(batch, layer, "relu", out)) };
    },
  };
}

export function scatterCase({ rows, hidden: width }: Sizes, draw: Draw): Case {
  const batches = sparseBatches(rows, FEATURES, draw);
  return {
    operation: "scatter",
    title: `first layer backward, ${grouped(FEATURES)} features, ${draw}, ${rows} rows`,
    unit: "GB/s",
    amount: meanOver(batches, nonZerosOf) * width * 8,
    limit: "read and write",
    prepare: (place) => scatter(place, batches, layerOf(place.array, FEATURES, width), inPlace),
  };
}

export function adamCase({ rows, hidden: width }: Sizes): Case {
  const batches = sparseBatches(rows, ADAM_FEATURES, "log-uniform");
  const features = (batch: Batch) => new Set(batch.indices.subarray(0, nonZerosOf(batch))).size;
  return {
    operation: "adam",
    title: `Adam on the first layer, ${grouped(ADAM_FEATURES)} features, log-uniform, ${rows} rows`,
    unit: "M parameters/s",
    amount: meanOver(batches, features) * width,
    limit: null,
    prepare(place) {
      const state = ["first", "second"].map((moment) => ({
        weights: place.array(`${moment} moment of weights`, ADAM_FEATURES * width),
        bias: place.array(`${moment} moment of bias`, width),
      }));
      const rule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;
      const gradient = {
        kind: "rule",
        scale: 1 / rows,
        rule,
        learningRate: 1e-6,
        step: 100,
      } as const;
      return scatter(place, batches, layerOf(place.array, ADAM_FEATURES, width), (target) => ({
        ...gradient,
        target,
        state,
      }));
    },
  };
}

export function blendCase(): Case {
  return {
    operation: "blend",
    title: `weighted sum of 2 models of ${grouped(BLENDED)} parameters`,
    unit: "GB/s",
    amount: BLENDED * 12,
    limit: "triad",
    prepare({ kernels, array }) {
      const target = array("blended", BLENDED);
      const terms = [0.25, 0.75].map((coefficient) => ({
        coefficient,
        source: array(`source ${coefficient}`, BLENDED, (into) => into.fill(coefficient)),
      }));
      return { run: () => kernels.blend(target, terms) };
    },
  };
}

/** Two that use mostly different features. */
function sparseBatches(rows: number, features: number, draw: Draw): readonly [Batch, Batch] {
  const shape = { rows, features, classes: 1000, nonZeros: NON_ZEROS, draw };
  return [madeUpBatch(createRandom(5), shape), madeUpBatch(createRandom(6), shape)];
}

function meanOver(batches: readonly Batch[], of: (batch: Batch) => number): number {
  return sum(batches.map(of)) / batches.length;
}

function scatter(
  place: Workplace,
  batches: readonly [Batch, Batch],
  layer: Layer,
  gradientOf: (layer: Layer, rows: number) => GradientTarget,
) {
  const { kernels, array } = place;
  const [{ rows }] = batches;
  const target = gradientOf(layer, rows);
  const outputs = hiddenRows(array, rows * layer.outputs);
  const fill = fillUniform(createRandom(7), 0.1);
  const dOutputs = array("dOutputs", rows * layer.outputs, fill);
  const run = inTurn(place, batches, (batch) =>
    kernels.scatter(batch, layer, "relu", outputs, dOutputs, target),
  );
  return { run };
}

/** Uploads both batches and works on one and the other in turn. */
function inTurn(
  { kernels }: Workplace,
  batches: readonly [Batch, Batch],
  work: (uploaded: Batch) => void,
): () => void {
  const uploaded = [kernels.upload(batches[0], 0), kernels.upload(batches[1], 1)] as const;
  let turn: 0 | 1 = 0;
  return () => {
    work(uploaded[turn]);
    turn = turn === 0 ? 1 : 0;
  };
}
