/** Steps on random shapes, and on such as need several blocks of everything, against the plain kernels. */
import {
  createNetwork,
  createPlainKernels,
  createTopK,
  parameterLayout,
  type Batch,
  type DeviceArray,
  type FlatGradientTarget,
  type Kernels,
  type ModelShape,
  type UpdateRule,
} from "@heterosgd/model";
import { createRandom, type Random } from "@heterosgd/sparse";
import { describe, expect, test } from "vitest";
import { modes, openShared } from "../../test/gpujs.js";

interface Density {
  readonly nonZeros: number;
  readonly labels: number;
}

/** So many different numbers below `bound`, ascending. */
function distinct(random: Random, count: number, bound: number): readonly number[] {
  const found = new Set<number>();
  while (found.size < Math.min(count, bound)) found.add(random.nextBelow(bound));
  return [...found].toSorted((a, b) => a - b);
}

function randomBatch(
  random: Random,
  rows: number,
  { features, labels }: ModelShape,
  most: Density,
): Batch {
  const offsets = [0];
  const labelOffsets = [0];
  const indices: number[] = [];
  const classes: number[] = [];
  for (let row = 0; row < rows; row++) {
    indices.push(...distinct(random, random.nextBelow(most.nonZeros + 1), features));
    classes.push(...distinct(random, random.nextBelow(most.labels + 1), labels));
    offsets.push(indices.length);
    labelOffsets.push(classes.length);
  }
  return {
    rows,
    offsets: Uint32Array.from(offsets),
    indices: Uint32Array.from(indices),
    values: Float32Array.from(indices, () => random.nextFloat() - 0.3),
    labelOffsets: Uint32Array.from(labelOffsets),
    labels: Uint32Array.from(classes),
  };
}

const uniform = (random: Random, length: number, scale: number): Float32Array =>
  new Float32Array(length).map(() => scale * (2 * random.nextFloat() - 1));

const rules: readonly (UpdateRule | null)[] = [
  null,
  { name: "adagrad", epsilon: 0.1 },
  { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0.1 },
];

/** Two steps of each rule, and a ranking. */
async function train<A extends DeviceArray, U>(
  kernels: Kernels<A, U>,
  shape: ModelShape,
  batch: Batch,
  initial: Float32Array,
  rule: UpdateRule | null,
) {
  const layout = parameterLayout(shape);
  const network = createNetwork(kernels, layout, { maxRows: batch.rows });
  const weights = kernels.allocate(layout.length);
  kernels.write(initial, weights);
  const state = [0, 1].map(() => kernels.allocate(layout.length));
  const uploaded = kernels.upload(batch, 0);
  const losses: number[] = [];
  for (let step = 1; step <= 2; step++) {
    const common = { target: weights, scale: 1 / batch.rows };
    const target: FlatGradientTarget<A> =
      rule === null
        ? { ...common, kind: "add", scale: -0.5 / batch.rows }
        : { ...common, kind: "rule", rule, learningRate: 0.1, step, state };
    losses.push(await network.train(uploaded, batch.rows, weights, target));
  }
  const parameters = new Float32Array(layout.length);
  await kernels.read(weights, parameters);
  const k = Math.min(5, shape.labels);
  const top = createTopK(batch.rows, k);
  await network.predict(uploaded, batch.rows, weights, k, top);
  return { losses, parameters, logits: top.logits, sums: top.logSumExp };
}

/** What does not agree, or nothing. */
async function agree(
  mode: (typeof modes)[number]["mode"],
  random: Random,
  shape: ModelShape,
  rows: number,
  most: Density,
  rule: UpdateRule | null,
): Promise<string> {
  const batch = randomBatch(random, rows, shape, most);
  // Such that units don't saturate, where float32 loses their derivatives.
  const scale = Math.min(0.5, 2 / Math.sqrt(most.nonZeros));
  const initial = uniform(random, parameterLayout(shape).length, scale);
  const tested = openShared(mode);
  const actual = await train(tested, shape, batch, initial, rule);
  await tested.dispose();
  const reference = createPlainKernels({ allocate: (length) => new Float64Array(length) });
  const expected = await train(reference, shape, batch, initial, rule);
  const what = `${JSON.stringify(shape)}, ${rows} rows, ${rule?.name ?? "SGD"}`;
  for (const name of ["losses", "parameters", "logits", "sums"] as const) {
    const [found, wanted] = [Array.from(actual[name]), Array.from(expected[name])];
    const largest = wanted.reduce((sofar, value) => Math.max(sofar, Math.abs(value)), 0.1);
    const wrong = wanted.findIndex((value, i) => !(Math.abs(value - found[i]!) <= 1e-4 * largest));
    if (wrong >= 0) return `${what}: ${name}[${wrong}] is ${found[wrong]}, not ${wanted[wrong]}`;
  }
  return "";
}

const seed = 20_261_201;

describe.each(modes)("gpu.js on $title", ({ mode, isAbsent }) => {
  test.skipIf(isAbsent)("agrees at random shapes", { timeout: 300_000 }, async () => {
    const random = createRandom(seed, 1);
    for (let i = 0; i < 12; i++) {
      const size = (most: number) => 1 + random.nextBelow(most);
      const shape: ModelShape = {
        features: size(200),
        hidden: Array.from({ length: 1 + (i % 3) }, () => size(40)),
        labels: size(150),
        activation: (["relu", "sigmoid", "tanh"] as const)[i % 3]!,
        loss: (["softmax", "sigmoid"] as const)[i % 2]!,
      };
      expect(
        await agree(mode, random, shape, size(30), { nonZeros: 12, labels: 4 }, rules[i % 3]!),
      ).toBe("");
    }
  });
});

/** How blocks are cut is the same on all. */
const { mode: any } = modes.find(({ isAbsent }) => !isAbsent)!;

const common = { activation: "tanh" } as const;
const large: Readonly<Record<string, readonly [ModelShape, number, Density]>> = {
  "several blocks of rows and of classes": [
    { ...common, features: 50, hidden: [3], labels: 9001, loss: "softmax" },
    521,
    { nonZeros: 5, labels: 3 },
  ],
  "several blocks of classes under sigmoids": [
    { ...common, features: 50, hidden: [3], labels: 16_385, loss: "sigmoid" },
    5,
    { nonZeros: 5, labels: 3 },
  ],
  "several blocks of units between hidden layers": [
    { ...common, features: 20, hidden: [2, 8200, 2], labels: 7, loss: "softmax" },
    9,
    { nonZeros: 5, labels: 3 },
  ],
  "sums longer than a loop": [
    { ...common, features: 5000, hidden: [7, 3000, 4], labels: 2000, loss: "softmax" },
    11,
    { nonZeros: 4000, labels: 1900 },
  ],
  "more touched features than a block holds": [
    { ...common, features: 4500, hidden: [1100], labels: 5, loss: "softmax" },
    16,
    { nonZeros: 1400, labels: 3 },
  ],
};

test.each(Object.entries(large))(
  `gpu.js on ${any} agrees with %s`,
  { timeout: 300_000 },
  async (_, [shape, rows, most]) => {
    const random = createRandom(seed, 2);
    // A rule is not linear: what it gets has to be the whole batch's gradient.
    expect(await agree(any, random, shape, rows, most, rules[1]!)).toBe("");
  },
);
