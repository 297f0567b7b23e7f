import type { Batch, GradientTarget, Layer } from "@heterosgd/model";
import { describe, expect, it } from "vitest";
import type { CpuKernelsErrorCode } from "../errors.js";
import { createWasmMemory } from "./memory.js";
import { createWasmKernels, type WasmKernels } from "./wasm-kernels.js";

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
  const kernels = createWasmKernels();
  const layer = (inputs: number, outputs: number): Layer => ({
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
  const add = (target: Layer): GradientTarget => ({ kind: "add", target, scale: 1 });
  const adam = (target: Layer, changes: object = {}): GradientTarget => ({
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

const elsewhere = (length: number) => new Float32Array(new SharedArrayBuffer(4 * length));
const upload = (changes: Partial<Batch>) => (o: Opened) =>
  o.kernels.upload({ ...sound, ...changes }, 1);
const output = (target: (o: Opened) => GradientTarget) => (o: Opened) =>
  o.kernels.output(o.batch, o.hidden, o.last, "softmax", target(o), o.dHidden, o.losses);

type Misuse = readonly [CpuKernelsErrorCode, RegExp, (o: Opened) => unknown];

const misuses: Record<string, Misuse> = {
  "an array too short": [
    "KERNEL_ARRAY",
    /^gather: out has 5 elements, expected at least 6$/u,
    (o) => o.kernels.gather(o.batch, o.first, "relu", o.kernels.view(o.hidden, 0, 5)),
  ],
  "an array of another type": [
    "KERNEL_ARRAY",
    /^dense: input is Float64Array, expected a Float32Array$/u,
    (o) =>
      o.kernels.dense(1, new Float64Array(9) as unknown as Float32Array, o.last, "tanh", o.hidden),
  ],
  "an array elsewhere": [
    "KERNEL_ARRAY",
    /^output: losses does not lie in the memory of these kernels: take it by their allocate/u,
    (o) => o.kernels.output(o.batch, o.hidden, o.last, "sigmoid", null, null, elsewhere(rows)),
  ],
  "an array of other kernels": [
    "KERNEL_ARRAY",
    /^blend: source does not lie in the memory/u,
    (o) => {
      const source = createWasmKernels().allocate(rows);
      o.kernels.blend(o.losses, [{ coefficient: 1, source }]);
    },
  ],
  "a copy of the memory": [
    "KERNEL_ARRAY",
    /^read: source does not lie in the memory/u,
    (o) => {
      const copy = new Float32Array(o.losses.buffer.slice(0), o.losses.byteOffset, rows);
      return o.kernels.read(copy, new Float32Array(rows));
    },
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
  "room for too few of the best": [
    "KERNEL_ARRAY",
    /^topK: ids has 3 elements, expected at least 4$/u,
    (o) => {
      const [ids, sums] = [new Uint32Array(3), new Float32Array(2)];
      return o.kernels.topK(rows, o.hidden, o.last, 2, ids, new Float32Array(4), sums);
    },
  ],
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
    /^allocate: the length is -1, expected a whole number/u,
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
  "an unknown activation": [
    "KERNEL_ARGUMENT",
    /^gather: activation is toString, expected one of relu, sigmoid, tanh$/u,
    (o) => o.kernels.gather(o.batch, o.first, "toString" as "relu", o.hidden),
  ],
  "more classes than there are": [
    "KERNEL_ARGUMENT",
    /^topK: k is 7, expected a whole number from 1 to 6$/u,
    (o) => {
      const ids = new Uint32Array(14);
      return o.kernels.topK(rows, o.hidden, o.last, 7, ids, elsewhere(14), elsewhere(2));
    },
  ],
  "an infinite scale": [
    "KERNEL_ARGUMENT",
    /^output: gradient\.scale is 1e\+40, expected a number that is finite in float32$/u,
    output((o) => ({ kind: "add", target: o.last, scale: 1e40 })),
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
  "layers that don't fit": [
    "KERNEL_ARGUMENT",
    /^trainMicroBatches: layer 1 has 4 inputs, the one before has 3 outputs$/u,
    (o) => {
      const layers = [o.first, o.layer(4, 6)];
      o.kernels.trainMicroBatches!(o.batch, layers, "relu", "softmax", 1, 0.1, o.losses);
    },
  ],
  "more than a memory holds": [
    "KERNEL_MEMORY",
    /^4096 MiB can't be taken .* at most 4096 MiB, of which \d+ MiB are in use: use smaller batches/u,
    (o) => o.kernels.allocate(2 ** 30),
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

describe("the WebAssembly kernels refuse", () => {
  it.each(Object.entries(misuses))("%s, before anything changes", (_, [code, message, misuse]) => {
    const opened = open();
    const { first, last, hidden, dHidden, losses } = opened;
    const arrays = [first.weights, first.bias, last.weights, last.bias, hidden, dHidden, losses];
    for (const [i, array] of arrays.entries()) array.fill(i + 0.5);
    let thrown: unknown;
    try {
      misuse(opened);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ name: "CpuKernelsError", code });
    expect((thrown as Error).message).toMatch(message);
    for (const [i, array] of arrays.entries()) {
      expect(array.every((value) => value === i + 0.5)).toBe(true);
    }
  });

  it.each<[string, () => WasmKernels]>([
    ["memory that isn't shared", () => over(new WebAssembly.Memory({ initial: 1, maximum: 9 }))],
    [
      "memory of another maker",
      () => over(new WebAssembly.Memory({ initial: 1, maximum: 65_536, shared: true })),
    ],
    ["something else", () => over({ buffer: new SharedArrayBuffer(8) } as never)],
  ])("%s", (_, create) => {
    expect(create).toThrow(/^the memory was not made by createWasmMemory/u);
  });

  it("a broken batch, and the slot is empty then", () => {
    const { kernels, first, hidden, batch } = open();
    expect(() => kernels.upload({ ...sound, labels: Uint32Array.of(1, 1, 1) }, 0)).toThrow(
      /labels of row 1 are not strictly ascending/u,
    );
    hidden.fill(7);
    expect(() => kernels.gather(batch, first, "relu", hidden)).toThrow(/the batch is in no slot/u);
    expect(hidden.every((value) => value === 7)).toBe(true);
    kernels.gather(kernels.upload(sound, 0), first, "relu", hidden);
    expect(hidden.every((value) => value === 0)).toBe(true);
  });

  it("a batch that is too large for the memory, and smaller ones go on", () => {
    const { kernels, first, hidden } = open();
    kernels.allocate(2 ** 30 - 2 ** 16);
    const none = new Uint32Array(2 ** 16);
    const large = { ...sound, offsets: none, labelOffsets: none, rows: 2 ** 16 - 1 };
    expect(() => kernels.upload(large, 0)).toThrow(
      expect.objectContaining({ code: "KERNEL_MEMORY" }),
    );
    hidden.fill(7);
    kernels.gather(kernels.upload(sound, 0), first, "relu", hidden);
    expect(hidden.every((value) => value === 0)).toBe(true);
  });

  it("keeping less than nothing", () => {
    const create = () => createWasmKernels({ memory: createWasmMemory(), keptBytes: -1 });
    expect(create).toThrow(/keptBytes is -1, expected a whole number of at least 0/u);
  });
});

function over(memory: WebAssembly.Memory): WasmKernels {
  return createWasmKernels({ memory });
}
