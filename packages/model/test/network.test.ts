import { createRandom } from "@heterosgd/sparse";
import { describe, expect, it } from "vitest";
import { randomBatch } from "../src/conformance/random-batch.js";
import {
  createNetwork,
  createPlainKernels,
  createTopK,
  losses,
  activations,
  networkBytes,
  optimizerStateArrays,
  parameterLayout,
  plainKernelsBytes,
  probability,
  type Batch,
  type FlatGradientTarget,
  type ModelShape,
  type ParameterLayout,
  type UpdateRule,
} from "../src/index.js";
import { naiveGradient, naiveLogits, naiveLoss } from "./naive-network.js";

const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
const inFloat64 = { allocate: (length: number): Float64Array => new Float64Array(length) };

const shapes: ModelShape[] = activations.flatMap((activation) =>
  losses.flatMap((loss) =>
    [[4], [6, 5], [3, 4, 5]].map((hidden) => ({
      features: 13,
      hidden,
      labels: 9,
      activation,
      loss,
    })),
  ),
);
const named = shapes.map((shape): [string, ModelShape] => [
  `${shape.activation}, ${shape.loss}, hidden ${shape.hidden.join("-")}`,
  shape,
]);

/** Random parameters, padding left at 0. */
function randomParameters(layout: ParameterLayout, seed: number): Float64Array {
  const random = createRandom(seed);
  const flat = new Float64Array(layout.length);
  for (const { offset, length } of layout.tensors) {
    for (let i = 0; i < length; i++) flat[offset + i] = 2 * random.nextFloat() - 1;
  }
  return flat;
}

function batchFor({ features, labels }: ModelShape, rows: number): Batch {
  return randomBatch(createRandom(5), rows, features, labels);
}

/** Largest difference between two arrays. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}

describe("a training step", () => {
  it.each(named)("has the textbook's loss and gradient: %s", async (_, shape) => {
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(inFloat64), layout, { maxRows: 12 });
    const weights = randomParameters(layout, 1);
    const before = weights.slice();
    const batch = batchFor(shape, 11);
    const gradient = new Float64Array(layout.length);
    const loss = await network.train(batch, 11, weights, {
      kind: "add",
      target: gradient,
      scale: 1,
    });
    // The losses pass through float32 on their way to the host.
    expect(loss / naiveLoss(layout, weights, batch)).toBeCloseTo(1, 6);
    expect(await network.loss(batch, 11, weights)).toBe(loss);
    expect(distance(gradient, naiveGradient(layout, weights, batch))).toBeLessThan(1e-12);
    expect(weights).toEqual(before);
  });

  it.each(named)("follows finite differences: %s", (_, shape) => {
    const layout = parameterLayout(shape);
    const weights = randomParameters(layout, 2);
    const batch = batchFor(shape, 5);
    const gradient = naiveGradient(layout, weights, batch);
    const h = 1e-5;
    for (const { name, offset, length } of layout.tensors) {
      for (let i = offset; i < offset + length; i += 7) {
        const value = weights[i]!;
        weights[i] = value + h;
        const above = naiveLoss(layout, weights, batch);
        weights[i] = value - h;
        const below = naiveLoss(layout, weights, batch);
        weights[i] = value;
        expect(gradient[i], `${name}, element ${i}`).toBeCloseTo((above - below) / (2 * h), 6);
      }
    }
  });

  it.each(named)("in place is SGD: %s", async (_, shape) => {
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(inFloat64), layout, { maxRows: 12 });
    const weights = randomParameters(layout, 3);
    const batch = batchFor(shape, 7);
    const gradient = naiveGradient(layout, weights, batch);
    const expected = weights.map((value, i) => value - 0.3 * gradient[i]!);
    await network.train(batch, 7, weights, { kind: "add", target: weights, scale: -0.3 });
    expect(distance(weights, expected)).toBeLessThan(1e-12);
  });
});

describe("an update rule", () => {
  const shape: ModelShape = {
    features: 30,
    hidden: [5, 4],
    labels: 8,
    activation: "tanh",
    loss: "softmax",
  };
  const layout = parameterLayout(shape);
  const rate = 0.1;

  /** One parameter's update, from the rule's definition. */
  function update(rule: UpdateRule, g: number, step: number, state: number[]): number {
    if (rule.name === "adagrad") {
      state[0]! += g * g;
      return (-rate * g) / (Math.sqrt(state[0]!) + rule.epsilon);
    }
    state[0] = rule.beta1 * state[0]! + (1 - rule.beta1) * g;
    state[1] = rule.beta2 * state[1]! + (1 - rule.beta2) * g * g;
    const m = state[0] / (1 - rule.beta1 ** step);
    const v = state[1] / (1 - rule.beta2 ** step);
    return (-rate * m) / (Math.sqrt(v) + rule.epsilon);
  }

  it.each<[string, UpdateRule]>([
    ["Adagrad", { name: "adagrad", epsilon: 1e-8 }],
    ["Adam", adam],
  ])("changes only touched rows of the first layer, and all of later ones: %s", async (_, rule) => {
    const network = createNetwork(createPlainKernels(inFloat64), layout, { maxRows: 12 });
    const weights = randomParameters(layout, 4);
    const expected = weights.slice();
    const states = Array.from(
      { length: optimizerStateArrays(rule) },
      () => new Float64Array(layout.length),
    );
    const own = Array.from(weights, () => states.map(() => 0));
    const random = createRandom(6);
    for (let step = 1; step <= 4; step++) {
      const batch = randomBatch(random, 2, shape.features, shape.labels);
      const touched = new Set(batch.indices.subarray(0, batch.offsets[2]));
      const gradient = naiveGradient(layout, expected, batch);
      for (const [index, { offset, length }] of layout.tensors.entries()) {
        for (let i = offset; i < offset + length; i++) {
          const row = Math.floor((i - offset) / shape.hidden[0]!);
          if (index === 0 && !touched.has(row)) continue;
          expected[i]! += update(rule, 0.5 * gradient[i]!, step, own[i]!);
        }
      }
      const target: FlatGradientTarget<Float64Array> = {
        kind: "rule",
        target: weights,
        scale: 0.5,
        rule,
        learningRate: rate,
        step,
        state: states,
      };
      await network.train(batch, 2, weights, target);
    }
    expect(distance(weights, expected)).toBeLessThan(1e-9);
    for (const [i, state] of states.entries()) {
      expect(
        distance(
          state,
          own.map((one) => one[i]!),
        ),
      ).toBeLessThan(1e-9);
    }
  });
});

describe("prediction", () => {
  it.each(named)("ranks all classes by the textbook's logits: %s", async (_, shape) => {
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(inFloat64), layout, { maxRows: 12 });
    const weights = randomParameters(layout, 7);
    const batch = batchFor(shape, 6);
    const out = createTopK(6, 4);
    await network.predict(batch, 6, weights, 4, out);
    for (const [row, logits] of naiveLogits(layout, weights, batch).entries()) {
      const order = logits.map((_logit, id) => id).toSorted((a, b) => logits[b]! - logits[a]!);
      expect([...out.ids.subarray(row * 4, row * 4 + 4)]).toEqual(order.slice(0, 4));
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
      expect(out.logSumExp[row]).toBeCloseTo(Math.log(total), 5);
      const best = probability(out.logits[row * 4]!, out.logSumExp[row]!, shape.loss);
      const e = Math.exp(logits[order[0]!]!);
      expect(best).toBeCloseTo(shape.loss === "softmax" ? e / total : e / (1 + e), 5);
    }
  });

  it("names every class once even when the network has diverged", async () => {
    const shape = shapes[0]!;
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(), layout, { maxRows: 3 });
    const out = createTopK(3, shape.labels);
    const weights = new Float32Array(layout.length).fill(NaN);
    await network.predict(batchFor(shape, 3), 3, weights, shape.labels, out);
    for (let row = 0; row < 3; row++) {
      const ids = out.ids.subarray(row * shape.labels, (row + 1) * shape.labels);
      expect(new Set(ids).size).toBe(shape.labels);
    }
  });

  it("refuses a k, a batch or arrays that don't fit", async () => {
    const shape = shapes[0]!;
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(), layout, { maxRows: 3 });
    const weights = new Float32Array(layout.length);
    const batch = batchFor(shape, 3);
    const predict = (rows: number, k: number, out = createTopK(4, 10)) =>
      network.predict(batch, rows, weights, k, out);
    await expect(predict(3, 10)).rejects.toThrow(RangeError);
    await expect(predict(3, 0)).rejects.toThrow(RangeError);
    await expect(predict(4, 1)).rejects.toThrow(RangeError);
    await expect(predict(3, 5, createTopK(3, 4))).rejects.toThrow(RangeError);
  });
});

describe("a network", () => {
  it.each(losses)("reports a loss that isn't finite, and doesn't throw: %s", async (loss) => {
    const shape = { ...shapes[0]!, loss };
    const layout = parameterLayout(shape);
    const network = createNetwork(createPlainKernels(), layout, { maxRows: 12 });
    const weights = new Float32Array(layout.length);
    weights[layout.layers[1]!.weights.offset] = NaN;
    const target = { kind: "add", target: weights, scale: -1 } as const;
    expect(await network.train(batchFor(shape, 12), 12, weights, target)).toBeNaN();
  });

  it("allocates nothing once it has seen its largest batch", async () => {
    let allocations = 0;
    const kernels = createPlainKernels({
      allocate(length) {
        allocations++;
        return new Float32Array(length);
      },
    });
    const shape = { ...shapes[0]!, hidden: [6, 5] };
    const layout = parameterLayout(shape);
    const network = createNetwork(kernels, layout, { maxRows: 20 });
    const arrays = [1, 2, 3].map(() => new Float32Array(layout.length));
    const step = async (rows: number) => {
      const batch = batchFor(shape, rows);
      const [target, first, second] = arrays as [Float32Array, Float32Array, Float32Array];
      await network.train(batch, rows, target, {
        kind: "rule",
        target,
        scale: 1 / rows,
        rule: adam,
        learningRate: 0.01,
        step: 1,
        state: [first, second],
      });
      await network.predict(batch, rows, target, 5, createTopK(rows, 5));
    };
    await step(20);
    const warm = allocations;
    await step(20);
    await step(7);
    expect(allocations).toBe(warm);
  });

  it("needs as much memory as predicted", () => {
    let elements = 0;
    const kernels = createPlainKernels({
      allocate(length) {
        elements += length;
        return new Float32Array(length);
      },
    });
    const layout = parameterLayout(shapes[0]!);
    elements = 0;
    createNetwork(kernels, layout, { maxRows: 50 });
    const bytes = networkBytes(layout, { maxRows: 50, optimizer: null });
    expect(bytes.work).toBe(4 * elements);
    expect(bytes.parameters).toBe(4 * layout.length);
    expect(bytes.total).toBe(bytes.parameters + bytes.work);
    const withAdam = networkBytes(layout, { maxRows: 50, optimizer: adam });
    expect(withAdam.total - bytes.total).toBe(2 * bytes.parameters);
  });

  it.each<[string, Partial<ModelShape>, UpdateRule | null, number, number[]]>([
    ["softmax", {}, null, 2 ** 24, [40]],
    ["softmax computed twice", {}, null, 0, [40]],
    ["softmax kept for small batches alone", {}, null, 300 * 47, [16, 40]],
    ["sigmoid, deep, Adam", { loss: "sigmoid", hidden: [70, 9] }, adam, 2 ** 24, [40]],
  ])(
    "has kernels that keep as much memory as predicted: %s",
    async (_, change, rule, keptLogits, batches) => {
      const shape = { ...shapes[0]!, labels: 300, ...change };
      const layout = parameterLayout(shape);
      let bytes = 0;
      const allocate = (length: number) => {
        bytes += 4 * length;
        return new Float32Array(length);
      };
      const kernels = createPlainKernels({ allocate, keptLogits });
      const network = createNetwork(kernels, layout, { maxRows: 40 });
      const weights = new Float32Array(layout.length);
      bytes = 0;
      const common = { target: weights, scale: 1 } as const;
      const target: FlatGradientTarget =
        rule === null
          ? { ...common, kind: "add" }
          : {
              ...common,
              kind: "rule",
              rule,
              learningRate: 0.1,
              step: 1,
              state: [weights, weights],
            };
      for (const rows of batches) await network.train(batchFor(shape, rows), rows, weights, target);
      await network.predict(batchFor(shape, 40), 40, weights, 1, createTopK(40, 1));
      const limits = { maxRows: 40, maxNonZeros: 500, optimizer: rule, keptLogits };
      const predicted = plainKernelsBytes(layout, limits);
      // Beside what `allocate` counts: normalisers, cursors, top-k's best logit of each row, and
      // the batch by columns.
      const columnOrder = rule === null ? 0 : 4 * (shape.features + 4 * 500);
      expect(bytes).toBe(predicted - 40 * 44 - columnOrder + 40 * 4);
    },
  );

  it("refuses maxRows below 1 and arrays of another length", async () => {
    const layout = parameterLayout(shapes[0]!);
    expect(() => createNetwork(createPlainKernels(), layout, { maxRows: 0 })).toThrow(RangeError);
    const network = createNetwork(createPlainKernels(), layout, { maxRows: 3 });
    const short = new Float32Array(layout.length - 1);
    await expect(network.loss(batchFor(shapes[0]!, 3), 3, short)).rejects.toThrow(RangeError);
  });
});
