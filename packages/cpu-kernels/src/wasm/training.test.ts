/** Whole networks on the WebAssembly kernels: what they reach, and what they keep. */
import {
  createNetwork,
  createPlainKernels,
  initialise,
  optimizerStateArrays,
  parameterLayout,
  type Batch,
  type Kernels,
  type Loss,
  type UpdateRule,
} from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { describe, expect, it } from "vitest";
import { wasmKernelsBytes } from "./prediction.js";
import { createWasmKernels } from "./wasm-kernels.js";

const adam: UpdateRule = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
const adagrad: UpdateRule = { name: "adagrad", epsilon: 1e-8 };

/** Full batches, each of which fills its arrays: 4 features and 2 labels that follow from them. */
function batchesOf(count: number, rows: number, features: number, labels: number): Batch[] {
  const random = createRandom(17);
  return Array.from({ length: count }, () => {
    const indices: number[] = [];
    const named: number[] = [];
    for (let row = 0; row < rows; row++) {
      const topic = random.nextBelow(labels - 1);
      const own = new Set<number>();
      while (own.size < 4) own.add((topic + labels * random.nextBelow(features)) % features);
      indices.push(...[...own].toSorted((a, b) => a - b));
      named.push(topic, topic + 1);
    }
    return {
      rows,
      offsets: Uint32Array.from({ length: rows + 1 }, (_, i) => 4 * i),
      indices: Uint32Array.from(indices),
      values: new Float32Array(indices.length).fill(0.5),
      labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, i) => 2 * i),
      labels: Uint32Array.from(named),
    };
  });
}

interface Run {
  readonly hidden: readonly number[];
  readonly loss: Loss;
  readonly rule: UpdateRule | null;
  readonly rate: number;
  readonly rows?: number;
  readonly labels?: number;
}

function layoutOf({ hidden, loss, labels = 61 }: Run) {
  return parameterLayout({ features: 305, hidden, labels, activation: "relu", loss });
}

async function train(kernels: Kernels, run: Run, epochs = 8) {
  const { rule, rate, rows = 50, labels = 61 } = run;
  const layout = layoutOf(run);
  const network = createNetwork(kernels, layout, { maxRows: rows });
  const weights = kernels.allocate(layout.length);
  initialise(layout, weights, 3);
  const state = Array.from({ length: optimizerStateArrays(rule) }, () =>
    kernels.allocate(layout.length),
  );
  const set = batchesOf(12, rows, 305, labels);
  const curve: number[] = [];
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    let sum = 0;
    for (const batch of set) {
      step++;
      const slot = (step % 2) as 0 | 1;
      const common = { target: weights, scale: 1 / rows };
      sum += await network.train(
        kernels.upload(batch, slot),
        rows,
        weights,
        rule === null
          ? { ...common, kind: "add", scale: -rate / rows }
          : { ...common, kind: "rule", rule, learningRate: rate, step, state },
      );
    }
    curve.push(sum / (set.length * rows));
  }
  return { curve, weights };
}

const runs: Record<string, Run> = {
  SGD: { hidden: [24], loss: "softmax", rule: null, rate: 6 },
  "Adagrad with sigmoids": { hidden: [24, 13], loss: "sigmoid", rule: adagrad, rate: 0.1 },
  Adagrad: { hidden: [24, 13], loss: "softmax", rule: adagrad, rate: 0.1 },
  Adam: { hidden: [128], loss: "softmax", rule: adam, rate: 0.01 },
};

describe("training on the WebAssembly kernels", () => {
  it.each(Object.entries(runs))("falls as on the plain ones: %s", async (_, run) => {
    const actual = await train(createWasmKernels(), run);
    const { curve } = await train(createPlainKernels(), run);
    expect(curve.at(-1)).toBeLessThan(0.7 * curve[0]!);
    for (const [epoch, loss] of curve.entries()) {
      expect(Math.abs(actual.curve[epoch]! - loss)).toBeLessThan(0.002 * loss);
    }
  });

  it.each(Object.entries(runs))("twice gives the same to the last bit: %s", async (_, run) => {
    const first = await train(createWasmKernels(), run, 2);
    const second = await train(createWasmKernels(), run, 2);
    expect(first.curve).toEqual(second.curve);
    expect(first.weights.every((value, i) => Object.is(value, second.weights[i]))).toBe(true);
  });

  it("gives the same whatever larger batches came before, where not all is kept", () => {
    const [small] = batchesOf(1, 6, 305, 500);
    const lossesAfter = (before: readonly Batch[]) => {
      const kernels = createWasmKernels({ keptBytes: 10_000 });
      const last = {
        inputs: 16,
        outputs: 500,
        weights: kernels.allocate(16 * 500),
        bias: kernels.allocate(500),
      };
      const random = createRandom(5);
      last.weights.forEach((_, i) => (last.weights[i] = 4 * random.nextFloat() - 2));
      const hidden = kernels.allocate(70 * 16).fill(0.3);
      const losses = kernels.allocate(70);
      const dHidden = kernels.allocate(70 * 16);
      for (const batch of [...before, small!]) {
        const uploaded = kernels.upload(batch, 0);
        kernels.output(uploaded, hidden, last, "softmax", null, dHidden, losses);
      }
      return [...losses.subarray(0, 6), ...dHidden.subarray(0, 6 * 16)];
    };
    expect(lossesAfter(batchesOf(1, 70, 305, 500))).toEqual(lossesAfter([]));
  });

  const kept = [undefined, 0, 40_000];
  const shapes = kept.flatMap((keptBytes) =>
    Object.entries(runs).flatMap(([name, run]) =>
      [1, 50, 130].map((rows) => ({ name, keptBytes, ...run, rows, labels: 500 })),
    ),
  );
  it.each(shapes)("keeps as predicted: $name, $keptBytes bytes, $rows rows", async (run) => {
    const { keptBytes, rows, rule } = run;
    const options = keptBytes === undefined ? {} : { keptBytes };
    const kernels = createWasmKernels(options);
    await train(kernels, run, 1);
    const limits = { maxRows: rows, maxNonZeros: 4 * rows, maxLabels: 2 * rows };
    const predicted = wasmKernelsBytes(layoutOf(run), { ...limits, optimizer: rule, options });
    const actual = kernels.workBytes();
    expect(actual).toBeLessThanOrEqual(predicted);
    const share = run.hidden.length === 1 ? 1 : 0.95;
    expect(actual).toBeGreaterThanOrEqual(share * predicted);
  });

  it("takes nothing more once it has seen a batch whose arrays have room", async () => {
    const kernels = createWasmKernels();
    const layer = (inputs: number, outputs: number) => ({
      inputs,
      outputs,
      weights: kernels.allocate(inputs * outputs),
      bias: kernels.allocate(outputs),
    });
    const last = layer(8, 61);
    const room = batchesOf(1, 40, 305, 61)[0]!;
    const hidden = kernels.allocate(40 * 8);
    const losses = kernels.allocate(40);
    const step = (rows: number) => {
      for (const slot of [0, 1] as const) {
        const batch = kernels.upload({ ...room, rows }, slot);
        const gradient = { kind: "add", target: last, scale: 1 } as const;
        kernels.output(batch, hidden, last, "softmax", gradient, hidden, losses);
      }
    };
    step(3);
    const before = kernels.workBytes();
    for (const rows of [40, 1, 39]) step(rows);
    expect(kernels.workBytes()).toBe(before);
  });
});
