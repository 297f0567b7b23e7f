import type { Batch, GradientTarget, Layer } from "@heterosgd/model";
import { GPU } from "gpu.js";
import { describe, expect, test } from "vitest";
import { openShared } from "../../test/gpujs.js";
import type { GpuKernelsErrorCode } from "../errors.js";
import type { GpujsArray } from "./api.js";
import type { GpuClass } from "./gpu-class.js";
import { createGpujsKernels } from "./gpujs-kernels.js";

/** Rows {0: 0.5, 4: 1} with label 1 and {2: 1} with labels 0 and 5. */
const sound: Batch = {
  rows: 2,
  offsets: Uint32Array.of(0, 2, 3),
  indices: Uint32Array.of(0, 4, 2),
  values: Float32Array.of(0.5, 1, 1),
  labelOffsets: Uint32Array.of(0, 1, 3),
  labels: Uint32Array.of(1, 0, 5),
};

const kernels = openShared("cpu");
const layer = (inputs: number, outputs: number): Layer<GpujsArray> => ({
  inputs,
  outputs,
  weights: kernels.allocate(inputs * outputs),
  bias: kernels.allocate(outputs),
});
const first = layer(5, 3);
const last = layer(3, 6);
const hidden = kernels.allocate(6);
const losses = kernels.allocate(2);
const batch = kernels.upload(sound, 0);
const nothing = null as never;
const add = (target: Layer<GpujsArray>): GradientTarget<GpujsArray> => ({
  kind: "add",
  target,
  scale: 1,
});
const output = (target: GradientTarget<GpujsArray>) => () =>
  kernels.output(batch, hidden, last, "softmax", target, null, losses);
const adam = (changes: object): GradientTarget<GpujsArray> => ({
  kind: "rule",
  target: last,
  scale: 1,
  rule: { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8 },
  learningRate: 0.1,
  step: 1,
  state: [layer(3, 6), layer(3, 6)],
  ...changes,
});

const misuses: Readonly<Record<string, readonly [GpuKernelsErrorCode, RegExp, () => unknown]>> = {
  "an array too short": [
    "KERNEL_ARRAY",
    /^gather: out has 5 elements, expected at least 6$/u,
    () => kernels.gather(batch, first, "relu", kernels.view(hidden, 0, 5)),
  ],
  "an array in host memory": [
    "KERNEL_ARRAY",
    /^dense: input is Float32Array, expected an array that allocate or view of these kernels gave$/u,
    () => kernels.dense(1, new Float32Array(9), last, "tanh", hidden),
  ],
  "an array of other kernels": [
    "KERNEL_ARRAY",
    /^read: source is Object, expected an array/u,
    () => kernels.read(openShared("cpu").allocate(2), new Float32Array(2)),
  ],
  "a target of another shape": [
    "KERNEL_ARRAY",
    /^output: gradient\.target\.weights has 15 elements, expected 18$/u,
    output(add(first)),
  ],
  "unequal lengths": [
    "KERNEL_ARRAY",
    /^write: 3 elements can't be copied into 2$/u,
    () => kernels.write(new Float32Array(3), losses),
  ],
  "a source that overlaps": [
    "KERNEL_ARRAY",
    /^blend: source overlaps target, 2 elements apart$/u,
    () => {
      const [target, source] = [kernels.view(hidden, 0, 4), kernels.view(hidden, 2, 4)];
      kernels.blend(target, [{ coefficient: 1, source }]);
    },
  ],
  "features that don't ascend": [
    "KERNEL_BATCH",
    /^upload: indices of row 0 are not strictly ascending: 4 comes before 4$/u,
    () => kernels.upload({ ...sound, indices: Uint32Array.of(4, 4, 2) }, 1),
  ],
  "a feature that the layer lacks": [
    "KERNEL_BATCH",
    /^gather: the batch names feature 4, the layer has 3 inputs$/u,
    () => kernels.gather(batch, layer(3, 3), "relu", hidden),
  ],
  "a label that the layer lacks": [
    "KERNEL_BATCH",
    /^output: the batch names label 5, the layer has 5 outputs$/u,
    () => kernels.output(batch, hidden, layer(3, 5), "softmax", null, null, losses),
  ],
  "a batch that was not uploaded": [
    "KERNEL_BATCH",
    /^gather: the batch is in no slot/u,
    () => kernels.gather(sound, first, "relu", hidden),
  ],
  "more units than a sum has terms": [
    "KERNEL_ARGUMENT",
    /^dense: layer\.inputs is 1048577, gpu\.js sums at most 1048576 terms$/u,
    () => kernels.dense(1, hidden, layer(2 ** 20 + 1, 1), "relu", hidden),
  ],
  "an array larger than can be counted": [
    "KERNEL_ARGUMENT",
    /^allocate: length is 4294967296, expected a whole number from 0 to 4294967295$/u,
    () => kernels.allocate(2 ** 32),
  ],
  "no epsilon": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.rule\.epsilon is 0/u,
    output(adam({ rule: { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 0 } })),
  ],
  "too little state": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.state has 1 entries, adam needs 2$/u,
    output(adam({ state: [layer(3, 6)] })),
  ],
  "more classes than there are": [
    "KERNEL_ARGUMENT",
    /^topK: k is 7, expected a whole number from 1 to 6$/u,
    () =>
      kernels.topK(
        2,
        hidden,
        last,
        7,
        new Uint32Array(14),
        new Float32Array(14),
        new Float32Array(2),
      ),
  ],
  "no class of gpu.js": [
    "KERNEL_ARGUMENT",
    /^createGpujsKernels: GPU is null, expected the class GPU of gpu\.js$/u,
    () => createGpujsKernels({ GPU: nothing, mode: "cpu" }),
  ],
  "an unknown mode": [
    "KERNEL_ARGUMENT",
    /^createGpujsKernels: mode is gpu, expected one of headlessgl, webgl/u,
    () => createGpujsKernels({ GPU, mode: "gpu" as never }),
  ],
};

test.each(Object.entries(misuses))("gpu.js kernels refuse %s", (_, [code, message, misuse]) => {
  expect(misuse).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});

test("everything is refused after dispose", async () => {
  const gone = openShared("cpu");
  const own = gone.allocate(1);
  await gone.dispose();
  await gone.dispose();
  for (const misuse of [
    () => gone.allocate(1),
    () => gone.view(own, 0, 1),
    () => gone.read(own, new Float32Array(1)),
    () => gone.upload(sound, 0),
    () => gone.deviceUse(),
  ]) {
    expect(misuse).toThrow(expect.objectContaining({ code: "KERNEL_DISPOSED" }));
  }
});

describe("a mode that can't be had", () => {
  function absent(): never {
    throw new Error('A requested mode of "webgl" and is not supported');
  }
  test("is named, with what gpu.js says", () => {
    expect(() => createGpujsKernels({ GPU: absent as unknown as GpuClass, mode: "webgl" })).toThrow(
      expect.objectContaining({
        code: "GPU_UNAVAILABLE",
        message: 'gpu.js has no webgl here: A requested mode of "webgl" and is not supported',
      }),
    );
  });

  test("is an error where gpu.js would compute on something else without a word", () => {
    // As gpu.js does where a kernel can't be compiled.
    class Falling {
      readonly Kernel = Map;
      createKernel() {
        const compute = () => new Float32Array(1);
        return Object.assign(compute, { kernel: new Set(), setOutput: () => undefined });
      }
      destroy() {
        return Promise.resolve();
      }
    }
    expect(() => createGpujsKernels({ GPU: Falling, mode: "headlessgl" })).toThrow(
      expect.objectContaining({
        code: "GPU_UNAVAILABLE",
        message: expect.stringMatching(/^gpu\.js fell back to Set in zeros/u),
      }),
    );
  });
});
