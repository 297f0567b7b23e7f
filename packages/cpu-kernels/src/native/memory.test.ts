import type { Batch, GradientTarget, Layer, UpdateRule } from "@heterosgd/model";
import { parameterLayout } from "@heterosgd/model";
import { describe, expect, test } from "vitest";
import { loadAddon } from "./addon.js";
import { createNativeKernels } from "./native-kernels.js";
import { allocateOnHugePages, nativeKernelsBytes } from "./native-memory.js";
import { nativeSupport, type NativeKernelsOptions } from "./native-support.js";

const support = nativeSupport();

interface Case {
  readonly features: number;
  readonly hidden: readonly number[];
  readonly labels: number;
  readonly rows: number;
  readonly optimizer: UpdateRule | null;
  readonly options: NativeKernelsOptions;
}

const adam = { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 } as const;
const small = { features: 500, hidden: [16], labels: 40, rows: 8 } as const;
const medium = { features: 3000, hidden: [64, 33], labels: 2000, rows: 100 } as const;
const wide = { features: 200, hidden: [32], labels: 30_000, rows: 64 } as const;
const cases: readonly Case[] = [
  { ...small, optimizer: null, options: {} },
  { ...small, optimizer: adam, options: { threads: 3 } },
  { ...medium, optimizer: adam, options: { threads: 2 } },
  { ...medium, optimizer: null, options: { isa: "portable", keptBytes: 100_000 } },
  { ...wide, optimizer: null, options: { threads: 2 } },
  { ...wide, optimizer: null, options: { keptBytes: 2 ** 20 } },
];

function newLayer(inputs: number, outputs: number): Layer {
  return {
    inputs,
    outputs,
    weights: new Float32Array(inputs * outputs),
    bias: new Float32Array(outputs),
  };
}

/** One step with everything in it and a ranking; returns the bytes that the kernels hold. */
function bytesAfterWork({ features, hidden, labels, rows, optimizer, options }: Case): number {
  const kernels = createNativeKernels(options);
  const each = 9;
  const batch: Batch = {
    rows,
    offsets: Uint32Array.from({ length: rows + 1 }, (_, i) => i * each),
    indices: Uint32Array.from({ length: rows * each }, (_, i) => (i % each) * 10),
    values: new Float32Array(rows * each).fill(1),
    labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, i) => i * 2),
    labels: Uint32Array.from({ length: rows * 2 }, (_, i) => i % 2),
  };
  const widths = [features, ...hidden, labels];
  const layers = widths.slice(1).map((outputs, i) => newLayer(widths[i]!, outputs));
  const gradient = (layer: Layer): GradientTarget => {
    const common = { target: layer, scale: -0.1 };
    if (optimizer === null) return { ...common, kind: "add" };
    const state = [newLayer(layer.inputs, layer.outputs), newLayer(layer.inputs, layer.outputs)];
    return { ...common, kind: "rule", rule: optimizer, learningRate: 0.1, step: 1, state };
  };
  const [first, ...others] = layers as [Layer, ...Layer[]];
  const last = others.at(-1)!;
  const dense = others.slice(0, -1);
  const values = (width: number) => new Float32Array(rows * width);

  for (const slot of [0, 1] as const) {
    const uploaded = kernels.upload(batch, slot);
    kernels.gather(uploaded, first, "relu", values(first.outputs));
    for (const layer of dense) {
      const [input, output, dOut, dIn] = [
        layer.inputs,
        layer.outputs,
        layer.outputs,
        layer.inputs,
      ].map(values) as [Float32Array, Float32Array, Float32Array, Float32Array];
      kernels.dense(rows, input, layer, "relu", output);
      kernels.denseBackward(rows, input, layer, "relu", output, dOut, gradient(layer), dIn);
    }
    const [hiddenRows, dHidden] = [values(last.inputs), values(last.inputs)];
    const losses = new Float32Array(rows);
    kernels.output(uploaded, hiddenRows, last, "softmax", gradient(last), dHidden, losses);
    kernels.scatter(
      uploaded,
      first,
      "relu",
      values(first.outputs),
      values(first.outputs),
      gradient(first),
    );
    const ids = new Uint32Array(rows * 10);
    void kernels.topK(rows, hiddenRows, last, 10, ids, values(10), losses);
  }
  const bytes = kernels.workBytes();
  void kernels.dispose();
  return bytes;
}

describe.skipIf(!support.available)("native memory", () => {
  test.each(cases)("the prediction holds for $hidden, $labels, $options", (one) => {
    const { features, hidden, labels, rows, optimizer, options } = one;
    const layout = parameterLayout({
      features,
      hidden,
      labels,
      activation: "relu",
      loss: "softmax",
    });
    const limits = { maxRows: rows, maxNonZeros: rows * 9, maxLabels: rows * 2 };
    const predicted = nativeKernelsBytes(layout, { ...limits, optimizer, options });
    expect(predicted).toBe(bytesAfterWork(one));
  });

  test.each([0, 1, 1000, 2 ** 19, 700_001])("%i elements are zeroed and aligned", (length) => {
    const array = allocateOnHugePages(length);
    expect(array).toHaveLength(length);
    expect(array.every((value) => value === 0)).toBe(true);
    expect(array.buffer).toBeInstanceOf(SharedArrayBuffer);
    const loaded = loadAddon();
    const place = loaded.ok && length > 0 ? loaded.addon.placeOf(array) : 0;
    expect(place % 64).toBe(0);
    expect(length * 4 < 2 ** 21 ? 0 : place).toBe(0);
  });
});
