import type { Batch, GradientTarget } from "@heterosgd/model";
import { describe, expect, test } from "vitest";
import { CpuKernelsError } from "../errors.js";
import { createNativeKernels } from "./native-kernels.js";
import { nativeSupport } from "./native-support.js";

const support = nativeSupport();

const batch: Batch = {
  rows: 2,
  offsets: Uint32Array.of(0, 2, 3),
  indices: Uint32Array.of(1, 4, 0),
  values: Float32Array.of(1, 2, 3),
  labelOffsets: Uint32Array.of(0, 1, 3),
  labels: Uint32Array.of(2, 0, 3),
};
const floats = (length: number) => new Float32Array(length);
const layerOf = (inputs: number, outputs: number) => ({
  inputs,
  outputs,
  weights: floats(inputs * outputs),
  bias: floats(outputs),
});
const addTo = (target: ReturnType<typeof layerOf>): GradientTarget => ({
  kind: "add",
  target,
  scale: 1,
});

/** The code and message of the CpuKernelsError that `run` has to throw. */
function refusal(run: () => unknown): string {
  try {
    void run();
  } catch (error) {
    if (error instanceof CpuKernelsError) return `${error.code} ${error.message}`;
    throw error;
  }
  return "nothing was thrown";
}

describe.skipIf(!support.available)("native kernels refuse", () => {
  const first = layerOf(5, 3);
  const last = layerOf(3, 4);

  function withKernels(run: (kernels: ReturnType<typeof createNativeKernels>) => void): void {
    const kernels = createNativeKernels({ threads: 2 });
    try {
      run(kernels);
    } finally {
      void kernels.dispose();
    }
  }

  test("arrays of the wrong length, type or state, by name", () => {
    withKernels((kernels) => {
      const uploaded = kernels.upload(batch, 0);
      expect(refusal(() => kernels.gather(uploaded, first, "relu", floats(5)))).toBe(
        "KERNEL_ARRAY gather: out has 5 elements, expected at least 6.",
      );
      const short = { ...first, weights: floats(14) };
      expect(refusal(() => kernels.gather(uploaded, short, "relu", floats(6)))).toBe(
        "KERNEL_ARRAY gather: layer.weights has 14 elements, expected 15.",
      );
      const doubles = new Float64Array(6) as unknown as Float32Array;
      expect(refusal(() => kernels.gather(uploaded, first, "relu", doubles))).toBe(
        "KERNEL_ARRAY gather: out is a Float64Array, expected a Float32Array.",
      );
      const detached = floats(6);
      structuredClone(detached, { transfer: [detached.buffer] });
      expect(refusal(() => kernels.gather(uploaded, first, "relu", detached))).toContain(
        "KERNEL_ARRAY gather: out has 0 elements",
      );
      expect(refusal(() => kernels.view(floats(3), 1.5, 1))).toContain("KERNEL_ARGUMENT A view");
      expect(refusal(() => kernels.view(floats(3), 2, 2))).toBe(
        "KERNEL_ARGUMENT A view of 2 elements from 2 on is none of 3 elements.",
      );
      expect(refusal(() => kernels.blend(floats(3), [{ coefficient: 1, source: floats(2) }]))).toBe(
        "KERNEL_ARRAY blend: source has 2 elements, expected 3.",
      );
    });
  });

  test("gradients without the state that their rule needs", () => {
    withKernels((kernels) => {
      const uploaded = kernels.upload(batch, 0);
      const gradient = {
        kind: "rule",
        target: first,
        scale: 1,
        rule: { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 },
        learningRate: 0.1,
        step: 1,
        state: [layerOf(5, 3)],
      } as const;
      const scatter = (changed: GradientTarget) =>
        refusal(() => kernels.scatter(uploaded, first, "relu", floats(6), floats(6), changed));
      expect(scatter(gradient)).toBe(
        "KERNEL_ARRAY scatter: gradient.state[1].weights is undefined, expected a Float32Array.",
      );
      const state = [layerOf(5, 3), layerOf(5, 3)];
      expect(scatter({ ...gradient, state, step: 0 })).toContain(
        "KERNEL_ARGUMENT scatter: gradient.step",
      );
      expect(scatter({ ...gradient, state, scale: NaN })).toContain("gradient.scale is nan");
      const unknown = { ...gradient.rule, name: "adamw" as "adam" };
      expect(scatter({ ...gradient, state, rule: unknown })).toBe(
        'KERNEL_ARGUMENT The gradient\'s rule is "adamw", expected one of adagrad, adam.',
      );
      const flat = { ...gradient.rule, epsilon: 0 };
      expect(scatter({ ...gradient, state, rule: flat })).toContain("KERNEL_ARGUMENT");
    });
  });

  test.each([
    [
      "indices of row 0 are not strictly ascending: 4 comes before 1",
      { indices: Uint32Array.of(4, 1, 0) },
    ],
    ["offsets fall from 4 to 3 at row 1", { offsets: Uint32Array.of(0, 4, 3) }],
    ["offsets start at 1, expected 0", { offsets: Uint32Array.of(1, 2, 3) }],
    ["offsets end at 9, beyond the 3 elements of values", { offsets: Uint32Array.of(0, 2, 9) }],
    ["offsets end at 3, beyond the 2 elements of indices", { indices: Uint32Array.of(1, 4) }],
    [
      "labels of row 1 are not strictly ascending: 3 comes before 3",
      { labels: Uint32Array.of(2, 3, 3) },
    ],
  ])("batches that are none: %s", (message, change) => {
    withKernels((kernels) => {
      expect(refusal(() => kernels.upload({ ...batch, ...change }, 0))).toContain(
        `KERNEL_BATCH upload: ${message}`,
      );
    });
  });

  test("batches that name what a layer lacks", () => {
    withKernels((kernels) => {
      const uploaded = kernels.upload(batch, 1);
      const narrow = layerOf(4, 3);
      expect(refusal(() => kernels.gather(uploaded, narrow, "relu", floats(6)))).toBe(
        "KERNEL_BATCH gather: the batch names feature 4, the layer has 4 inputs.",
      );
      const few = layerOf(3, 3);
      const output = () =>
        kernels.output(uploaded, floats(6), few, "softmax", addTo(few), floats(6), floats(2));
      expect(refusal(output)).toBe(
        "KERNEL_BATCH output: the batch names label 3, the layer has 3 outputs.",
      );
    });
  });

  test("batches that are in no slot, or no longer", () => {
    withKernels((kernels) => {
      const gather = (given: Batch) =>
        refusal(() => kernels.gather(given, first, "relu", floats(6)));
      expect(gather(batch)).toContain("KERNEL_BATCH");
      const uploaded = kernels.upload(batch, 0);
      kernels.upload(batch, 0);
      expect(gather(uploaded)).toContain("KERNEL_BATCH");
    });
  });

  test("sizes and options that are out of range", () => {
    withKernels((kernels) => {
      const uploaded = kernels.upload(batch, 0);
      const rank = (k: number) =>
        refusal(() =>
          kernels.topK(2, floats(6), last, k, new Uint32Array(9), floats(9), floats(2)),
        );
      expect(rank(5)).toContain(
        "KERNEL_ARGUMENT topK: k is 5, expected a whole number from 1 to 4",
      );
      expect(rank(1.5)).toContain("KERNEL_ARGUMENT");
      const unknown = "gelu" as "relu";
      expect(refusal(() => kernels.gather(uploaded, first, unknown, floats(6)))).toContain(
        'KERNEL_ARGUMENT The activation is "gelu"',
      );
      const train = (layers: readonly ReturnType<typeof layerOf>[]) =>
        refusal(() =>
          kernels.trainMicroBatches!(uploaded, layers, "relu", "softmax", 1, 0.1, floats(2)),
        );
      expect(train([first])).toContain("KERNEL_ARGUMENT trainMicroBatches: there are 1 layers");
      expect(train([first, layerOf(4, 4)])).toContain("layer 1 has 4 inputs, the one before has 3");
    });
    expect(refusal(() => createNativeKernels({ threads: 0 }))).toContain("KERNEL_ARGUMENT");
    expect(refusal(() => createNativeKernels({ keptBytes: -1 }))).toContain("KERNEL_ARGUMENT");
    const isa = "mmx" as "avx2";
    expect(refusal(() => createNativeKernels({ isa }))).toContain("ISA_UNSUPPORTED");
    expect(refusal(() => createNativeKernels({ isa: "portable", bf16: true }))).toContain(
      "ISA_UNSUPPORTED",
    );
  });

  test("arrays larger than memory", () => {
    withKernels((kernels) => {
      expect(refusal(() => kernels.allocate(2 ** 50))).toContain("KERNEL_MEMORY");
      expect(refusal(() => kernels.allocate(-1))).toContain("KERNEL_ARGUMENT");
    });
  });

  test("everything after dispose, which may be called twice", () => {
    const kernels = createNativeKernels();
    const uploaded = kernels.upload(batch, 0);
    void kernels.dispose();
    void kernels.dispose();
    expect(refusal(() => kernels.upload(batch, 0))).toContain("KERNEL_DISPOSED");
    expect(refusal(() => kernels.gather(uploaded, first, "relu", floats(6)))).toContain(
      "KERNEL_DISPOSED",
    );
    expect(refusal(() => kernels.blend(floats(1), []))).toContain("KERNEL_DISPOSED");
  });

  test("nothing when a host changes a batch after it was uploaded", () => {
    withKernels((kernels) => {
      const own = { ...batch, indices: batch.indices.slice(), offsets: batch.offsets.slice() };
      const layer = { ...first, weights: floats(15).fill(1) };
      const uploaded = kernels.upload(own, 0);
      own.indices.fill(0xffff_ffff);
      own.offsets.fill(0xffff_ffff);
      const out = floats(6);
      kernels.gather(uploaded, layer, "relu", out);
      expect([...out]).toEqual([3, 3, 3, 3, 3, 3]);
    });
  });
});
