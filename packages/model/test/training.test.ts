/** Whole trainings of a tiny set, against loss curves recorded earlier. */
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, it } from "vitest";
import {
  addMetrics,
  createMetrics,
  createNetwork,
  createPlainKernels,
  createTopK,
  initialise,
  metricsOf,
  optimizerStateArrays,
  parameterLayout,
  type Batch,
  type Loss,
  type UpdateRule,
} from "../src/index.js";

const rows = 240;
const batchRows = 16;

/**
 * Rows of 5 out of 60 features, each feature belonging to one of 12 topics; a row's labels are the
 * topics of its features.
 */
function batches(): Batch[] {
  const random = createRandom(11);
  return Array.from({ length: rows / batchRows }, () => {
    const offsets = [0];
    const indices: number[] = [];
    const labelOffsets = [0];
    const labels: number[] = [];
    for (let row = 0; row < batchRows; row++) {
      const topics = new Set([random.nextBelow(12), random.nextBelow(12)]);
      const features = new Set<number>();
      for (const topic of topics) {
        while (features.size < 3 * (1 + [...topics].indexOf(topic))) {
          features.add(topic + 12 * random.nextBelow(5));
        }
      }
      indices.push(...[...features].toSorted((a, b) => a - b));
      labels.push(...[...topics].toSorted((a, b) => a - b));
      offsets.push(indices.length);
      labelOffsets.push(labels.length);
    }
    return {
      rows: batchRows,
      offsets: Uint32Array.from(offsets),
      indices: Uint32Array.from(indices),
      values: new Float32Array(indices.length).fill(1 / Math.sqrt(6)),
      labelOffsets: Uint32Array.from(labelOffsets),
      labels: Uint32Array.from(labels),
    };
  });
}

async function train(rule: UpdateRule | null, learningRate: number, loss: Loss) {
  const layout = parameterLayout({
    features: 60,
    hidden: [16, 12],
    labels: 12,
    activation: "relu",
    loss,
  });
  const kernels = createPlainKernels();
  const network = createNetwork(kernels, layout, { maxRows: batchRows });
  const weights = kernels.allocate(layout.length);
  initialise(layout, weights, 5);
  const state = Array.from({ length: optimizerStateArrays(rule) }, () =>
    kernels.allocate(layout.length),
  );
  const curve: number[] = [];
  const set = batches();
  let step = 0;
  for (let epoch = 0; epoch < 12; epoch++) {
    let sum = 0;
    for (const batch of set) {
      const target = { target: weights, scale: 1 / batchRows };
      step++;
      sum += await network.train(
        batch,
        batchRows,
        weights,
        rule === null
          ? { ...target, kind: "add", scale: -learningRate / batchRows }
          : { ...target, kind: "rule", rule, learningRate, step, state },
      );
    }
    curve.push(sum / rows);
  }
  const metrics = createMetrics([1]);
  const best = createTopK(batchRows, 1);
  for (const batch of set) {
    await network.predict(batch, batchRows, weights, 1, best);
    addMetrics(metrics, batch, best.ids, 1);
  }
  return { curve, weights, precision: metricsOf(metrics).precision[0]! };
}

const adagrad: UpdateRule = { name: "adagrad", epsilon: 1e-8 };
const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

describe("training", () => {
  it.each<[string, UpdateRule | null, number, Loss, readonly number[]]>([
    [
      "SGD",
      null,
      0.5,
      "softmax",
      [
        2.4976, 2.4313, 2.3206, 2.0765, 1.7584, 1.5198, 1.3614, 1.2008, 1.2119, 1.0937, 1.0554,
        1.0376,
      ],
    ],
    [
      "Adagrad",
      adagrad,
      0.1,
      "softmax",
      [
        2.0925, 1.2876, 0.9842, 0.8778, 0.8308, 0.7738, 0.7478, 0.7471, 0.7412, 0.7161, 0.7058,
        0.6951,
      ],
    ],
    [
      "Adam",
      adam,
      0.005,
      "softmax",
      [
        2.503, 2.4067, 2.2775, 2.0567, 1.7821, 1.4746, 1.2092, 1.0221, 0.9029, 0.8244, 0.7743,
        0.7432,
      ],
    ],
    [
      "SGD with sigmoids",
      null,
      0.2,
      "sigmoid",
      [
        5.5693, 5.2027, 4.9478, 4.565, 3.9602, 3.3067, 2.7101, 2.1985, 1.7793, 1.4376, 1.1515,
        0.9361,
      ],
    ],
  ])("follows its recorded loss curve: %s", async (_, rule, learningRate, loss, recorded) => {
    const { curve, precision } = await train(rule, learningRate, loss);
    expect(precision).toBeGreaterThan(0.95);
    expect(curve).toHaveLength(recorded.length);
    for (const [i, value] of recorded.entries()) expect(curve[i]).toBeCloseTo(value, 3);
  });

  it("twice from one seed ends in the same parameters to the last bit", async () => {
    const first = await train(adam, 0.005, "softmax");
    const second = await train(adam, 0.005, "softmax");
    expect(new Uint32Array(first.weights.buffer)).toEqual(new Uint32Array(second.weights.buffer));
    expect(first.curve).toEqual(second.curve);
  });
});
