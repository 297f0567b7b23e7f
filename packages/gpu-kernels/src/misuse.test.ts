import type { Batch, GradientTarget, Layer } from "@heterosgd/model";
import { afterAll, describe, expect, it } from "vitest";
import { compileTime } from "../test/compile-time.js";
import type { GpuKernelsError, GpuKernelsErrorCode } from "./errors.js";
import { createGpuKernels } from "./gpu-kernels.js";
import type { GpuArray } from "./kernels/arrays.js";
import { openclSupport } from "./opencl/devices.js";

// In GiB, for pocl: what is refused for want of memory has to be more than there is.
process.env["POCL_MEMORY_LIMIT"] = "4";
const support = openclSupport();
const memory = support.available ? support.devices[0]!.memory : 0;
const rows = 2;
const units = 3;

/** Rows {0: 0.5, 4: 1} with label 1 and {2: 1} with labels 0 and 5. */
const sound: Batch = {
  rows,
  offsets: Uint32Array.of(0, 2, 3),
  indices: Uint32Array.of(0, 4, 2),
  values: Float32Array.of(0.5, 1, 1),
  labelOffsets: Uint32Array.of(0, 1, 3),
  labels: Uint32Array.of(1, 0, 5),
};

function open() {
  const kernels = createGpuKernels({ technology: "opencl" });
  const layer = (inputs: number, outputs: number): Layer<GpuArray> => ({
    inputs,
    outputs,
    weights: kernels.allocate(inputs * outputs),
    bias: kernels.allocate(outputs),
  });
  const first = layer(5, units);
  const last = layer(units, 6);
  const hidden = kernels.allocate(rows * units);
  const dHidden = kernels.allocate(rows * units);
  const losses = kernels.allocate(rows);
  const batch = kernels.upload(sound, 0);
  const add = (target: Layer<GpuArray>): GradientTarget<GpuArray> => ({
    kind: "add",
    target,
    scale: 1,
  });
  const adam = (target: Layer<GpuArray>, changes: object = {}): GradientTarget<GpuArray> => ({
    kind: "rule",
    target,
    scale: 1,
    rule: { name: "adam", beta1: 0.9, beta2: 0.99, epsilon: 1e-8, ...changes },
    learningRate: 0.1,
    step: 1,
    state: [layer(target.inputs, target.outputs), layer(target.inputs, target.outputs)],
  });
  return { kernels, layer, first, last, hidden, dHidden, losses, batch, add, adam };
}
type Opened = ReturnType<typeof open>;

const nothing = null as never;
const upload = (changes: Partial<Batch>) => (o: Opened) =>
  o.kernels.upload({ ...sound, ...changes }, 1);
const output = (target: (o: Opened) => GradientTarget<GpuArray>) => (o: Opened) =>
  o.kernels.output(o.batch, o.hidden, o.last, "softmax", target(o), o.dHidden, o.losses);

type Misuse = readonly [GpuKernelsErrorCode, RegExp, (o: Opened) => unknown];

const misuses: Record<string, Misuse> = {
  "an array too short": [
    "KERNEL_ARRAY",
    /^gather: out has 5 elements, expected at least 6$/u,
    (o) => o.kernels.gather(o.batch, o.first, "relu", o.kernels.view(o.hidden, 0, 5)),
  ],
  "an array in host memory": [
    "KERNEL_ARRAY",
    /^dense: input is Float32Array, expected an array that allocate or view of these kernels gave$/u,
    (o) => o.kernels.dense(1, new Float32Array(9), o.last, "tanh", o.hidden),
  ],
  "an array that is none": [
    "KERNEL_ARRAY",
    /^write: target is null, expected an array/u,
    (o) => o.kernels.write(new Float32Array(9), nothing),
  ],
  "nowhere to read to": [
    "KERNEL_ARRAY",
    /^read: target is null, expected a Float32Array$/u,
    (o) => o.kernels.read(o.losses, nothing),
  ],
  "weights of another shape": [
    "KERNEL_ARRAY",
    /^scatter: layer\.weights has 18 elements, expected 15$/u,
    (o) => {
      const layer = { ...o.first, weights: o.last.weights };
      o.kernels.scatter(o.batch, layer, "relu", o.hidden, o.dHidden, o.add(o.first));
    },
  ],
  "a target of another shape": [
    "KERNEL_ARRAY",
    /^output: gradient\.target\.weights has 15 elements, expected 18$/u,
    output((o) => o.add(o.first)),
  ],
  "unequal lengths": [
    "KERNEL_ARRAY",
    /^write: 3 elements can't be copied into 2$/u,
    (o) => o.kernels.write(new Float32Array(3), o.losses),
  ],
  "a source of another length": [
    "KERNEL_ARRAY",
    /^blend: source has 6 elements, expected 2$/u,
    (o) => o.kernels.blend(o.losses, [{ coefficient: 1, source: o.hidden }]),
  ],
  "a source that overlaps": [
    "KERNEL_ARRAY",
    /^blend: source overlaps target, 2 elements apart$/u,
    (o) => {
      const [target, source] = [o.kernels.view(o.hidden, 0, 4), o.kernels.view(o.hidden, 2, 4)];
      o.kernels.blend(target, [{ coefficient: 1, source }]);
    },
  ],
  "room for too few of the best": [
    "KERNEL_ARRAY",
    /^topK: ids has 3 elements, expected at least 4$/u,
    (o) => {
      const [ids, sums] = [new Uint32Array(3), new Float32Array(2)];
      return o.kernels.topK(rows, o.hidden, o.last, 2, ids, new Float32Array(4), sums);
    },
  ],
  "no batch": [
    "KERNEL_ARGUMENT",
    /^upload: batch is null, expected/u,
    (o) => o.kernels.upload(nothing, 0),
  ],
  "no rows": ["KERNEL_ARGUMENT", /^upload: rows is 0, expected/u, upload({ rows: 0 })],
  "offsets that don't start at 0": [
    "KERNEL_BATCH",
    /^upload: offsets start at 1, expected 0$/u,
    upload({ offsets: Uint32Array.of(1, 2, 3) }),
  ],
  "offsets that fall": [
    "KERNEL_BATCH",
    /^upload: labelOffsets fall from 3 to 1 at row 1/u,
    upload({ labelOffsets: Uint32Array.of(0, 3, 1) }),
  ],
  "offsets beyond the arrays": [
    "KERNEL_BATCH",
    /^upload: offsets end at 4, beyond the 3 elements of indices and values$/u,
    upload({ offsets: Uint32Array.of(0, 2, 4) }),
  ],
  "features that don't ascend": [
    "KERNEL_BATCH",
    /^upload: indices of row 0 are not strictly ascending: 4 comes before 4$/u,
    upload({ indices: Uint32Array.of(4, 4, 2) }),
  ],
  "labels that don't ascend": [
    "KERNEL_BATCH",
    /^upload: labels of row 1 are not strictly ascending: 5 comes before 0$/u,
    upload({ labels: Uint32Array.of(1, 5, 0) }),
  ],
  "a feature that the layer lacks": [
    "KERNEL_BATCH",
    /^gather: the batch names feature 4, the layer has 3 inputs$/u,
    (o) => o.kernels.gather(o.batch, o.layer(3, units), "relu", o.hidden),
  ],
  "a label that the layer lacks": [
    "KERNEL_BATCH",
    /^output: the batch names label 5, the layer has 5 outputs$/u,
    (o) => o.kernels.output(o.batch, o.hidden, o.layer(units, 5), "softmax", null, null, o.losses),
  ],
  "a batch that was not uploaded": [
    "KERNEL_BATCH",
    /^gather: the batch is in no slot: upload of these kernels did not return it, or another/u,
    (o) => o.kernels.gather(sound, o.first, "relu", o.hidden),
  ],
  "a batch whose place another took": [
    "KERNEL_BATCH",
    /^scatter: the batch is in no slot: .* or another took its place$/u,
    (o) => {
      o.kernels.upload(sound, 0);
      o.kernels.scatter(o.batch, o.first, "relu", o.hidden, o.dHidden, o.add(o.first));
    },
  ],
  "a length that is none": [
    "KERNEL_ARGUMENT",
    /^allocate: length is -1, expected a whole number from 0 to 4294967295$/u,
    (o) => o.kernels.allocate(-1),
  ],
  "a view beyond the array": [
    "KERNEL_ARGUMENT",
    /^view: length is 2, expected a whole number from 0 to 1$/u,
    (o) => o.kernels.view(o.losses, 1, 2),
  ],
  "a third slot": [
    "KERNEL_ARGUMENT",
    /^upload: slot is 2, expected a whole number from 0 to 1$/u,
    (o) => o.kernels.upload(sound, 2 as 0),
  ],
  "rows that are no number": [
    "KERNEL_ARGUMENT",
    /^dense: rows is NaN/u,
    (o) => o.kernels.dense(NaN, o.hidden, o.last, "tanh", o.hidden),
  ],
  "no layer": [
    "KERNEL_ARGUMENT",
    /^dense: layer is null, expected an object/u,
    (o) => o.kernels.dense(1, o.hidden, nothing, "tanh", o.hidden),
  ],
  "an unknown activation": [
    "KERNEL_ARGUMENT",
    /^gather: activation is toString, expected one of relu, sigmoid, tanh$/u,
    (o) => o.kernels.gather(o.batch, o.first, "toString" as "relu", o.hidden),
  ],
  "an unknown loss": [
    "KERNEL_ARGUMENT",
    /^output: loss is hinge, expected one of softmax, sigmoid$/u,
    (o) => o.kernels.output(o.batch, o.hidden, o.last, "hinge" as "softmax", null, null, o.losses),
  ],
  "more classes than there are": [
    "KERNEL_ARGUMENT",
    /^topK: k is 7, expected a whole number from 1 to 6$/u,
    (o) => {
      const ids = new Uint32Array(14);
      const [logits, sums] = [new Float32Array(14), new Float32Array(2)];
      return o.kernels.topK(rows, o.hidden, o.last, 7, ids, logits, sums);
    },
  ],
  "an infinite scale": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.scale is 1e\+40, expected a number that is finite in float32$/u,
    output((o) => ({ kind: "add", target: o.last, scale: 1e40 })),
  ],
  "an undefined gradient": [
    "KERNEL_ARGUMENT",
    /^output: gradient is undefined, expected an object/u,
    output(() => undefined as never),
  ],
  "an epsilon of 0": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.rule\.epsilon is 0, expected it to be above 0 in float32$/u,
    output((o) => o.adam(o.last, { epsilon: 0 })),
  ],
  "a beta of 1": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.rule has beta1 1 and beta2 0\.99/u,
    output((o) => o.adam(o.last, { beta1: 1 })),
  ],
  "state that is missing": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.state has 1 entries, adam needs 2$/u,
    output((o) => ({ ...o.adam(o.last), state: [o.layer(units, 6)] })),
  ],
  "use after dispose": [
    "KERNEL_DISPOSED",
    /^upload: the kernels were disposed$/u,
    (o) => {
      void o.kernels.dispose();
      return o.kernels.upload(sound, 0);
    },
  ],
};

describe.skipIf(!support.available)("GPU kernels refuse", compileTime, () => {
  // Of one device; opening it takes longest.
  const opened = support.available ? open() : (undefined as never);
  afterAll(() => opened?.kernels.dispose());

  it.each(Object.entries(misuses))("%s, before anything changes", async (name, misuse) => {
    const [code, message, run] = misuse;
    const own = name === "use after dispose" ? open() : opened;
    const { kernels, first, last, hidden, dHidden, losses } = own;
    const arrays = [first.weights, first.bias, last.weights, last.bias, hidden, dHidden, losses];
    for (const [i, array] of arrays.entries()) {
      kernels.write(new Float32Array(array.length).fill(i + 0.5), array);
    }
    // Those before may have taken its place.
    const batch = kernels.upload(sound, 0);
    let thrown: unknown;
    try {
      run({ ...own, batch });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: "GpuKernelsError", code });
    expect((thrown as Error).message).toMatch(message);
    if (own !== opened) return;
    for (const [i, array] of arrays.entries()) {
      const values = new Float32Array(array.length);
      await kernels.read(array, values);
      expect(values.every((value) => value === i + 0.5)).toBe(true);
    }
  });

  it("an array of other kernels", async () => {
    const other = createGpuKernels({ technology: "opencl" });
    const source = other.allocate(rows);
    expect(() => opened.kernels.blend(opened.losses, [{ coefficient: 1, source }])).toThrow(
      /^blend: source is Object, expected an array that allocate or view of these kernels gave$/u,
    );
    await other.dispose();
  });

  it("a broken batch, and the slot is empty then", async () => {
    const { kernels, first, hidden } = opened;
    const batch = kernels.upload(sound, 0);
    expect(() => kernels.upload({ ...sound, labels: Uint32Array.of(1, 1, 1) }, 0)).toThrow(
      /labels of row 1 are not strictly ascending/u,
    );
    expect(() => kernels.gather(batch, first, "relu", hidden)).toThrow(/the batch is in no slot/u);
    kernels.blend(first.weights, []);
    kernels.blend(first.bias, []);
    kernels.gather(kernels.upload(sound, 0), first, "relu", hidden);
    const values = new Float32Array(hidden.length);
    await kernels.read(hidden, values);
    expect(values.every((value) => value === 0)).toBe(true);
  });

  it.skipIf(memory > 2 ** 33)("more than the device has, with both numbers", async () => {
    const kernels = createGpuKernels({ technology: "opencl" });
    const refusal = (length: number): string => {
      try {
        kernels.allocate(length);
      } catch (error) {
        return `${(error as GpuKernelsError).code}: ${(error as Error).message}`;
      }
      return "taken";
    };
    const size = (message: string): readonly number[] =>
      (/^GPU_MEMORY: .* no room for (\d+) MiB, (\d+) MiB are left/u.exec(message) ?? [])
        .slice(1)
        .map(Number);
    const all = memory / 2 ** 20;
    const [wanted, left] = size(refusal(memory / 4 + 1));
    expect(wanted).toBe(Math.ceil(all) + 1);
    expect(left).toBeLessThanOrEqual(all);
    kernels.allocate(2 ** 20);
    const [, then] = size(refusal(memory / 4 + 1));
    expect(left! - then!).toBe(4);
    await kernels.dispose();
  });

  it("a device that there is not", () => {
    expect(() => createGpuKernels({ technology: "opencl", index: 99 })).toThrow(
      expect.objectContaining({
        code: "GPU_UNAVAILABLE",
        message: expect.stringMatching(
          /^There is no OpenCL device 99; \d+ are found, from 0 on: /u,
        ),
      }),
    );
  });
});

describe("createGpuKernels refuses", () => {
  it.each<[string, RegExp, object]>([
    ["no options", /^createGpuKernels: options is null, expected an object$/u, nothing],
    [
      "unknown options",
      /^createGpuKernels: there is no option device, expected some of technology, index, library, cublas/u,
      { technology: "cuda", device: 1 },
    ],
    [
      "unknown technologies",
      /^createGpuKernels: technology is metal, expected one of cuda, opencl$/u,
      { technology: "metal" },
    ],
    [
      "an index that is none",
      /^createGpuKernels: index is -1, expected a whole number of at least 0$/u,
      { technology: "opencl", index: -1 },
    ],
    [
      "a cuBLAS that is none",
      /^createGpuKernels: cublas is 12, expected true, false or the name of a library$/u,
      { technology: "cuda", cublas: 12 },
    ],
    [
      "cuBLAS on OpenCL",
      /^createGpuKernels: cublas is for CUDA, leave it out for OpenCL$/u,
      { technology: "opencl", cublas: true },
    ],
    [
      "a budget that is none",
      /^createGpuKernels: blockBytes is 0\.5, expected a whole number of at least 0$/u,
      { technology: "opencl", blockBytes: 0.5 },
    ],
  ])("%s", (_, message, options) => {
    expect(() => createGpuKernels(options as never)).toThrow(
      expect.objectContaining({
        code: "KERNEL_ARGUMENT",
        message: expect.stringMatching(message),
      }),
    );
  });
});
