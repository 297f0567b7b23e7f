/** Both kinds of kernels refuse the same misuse, with the same code. */
import type { Batch, Layer } from "@heterosgd/model";
import { createPlainKernels } from "@heterosgd/model";
import { describe, expect, test } from "vitest";
import { createNativeKernels } from "./native/native-kernels.js";
import { nativeSupport } from "./native/native-support.js";
import { createWasmKernels } from "./wasm/wasm-kernels.js";

const batch: Batch = {
  rows: 1,
  offsets: Uint32Array.of(0, 1),
  indices: Uint32Array.of(1),
  values: Float32Array.of(1),
  labelOffsets: Uint32Array.of(0, 1),
  labels: Uint32Array.of(2),
};
const empty: Batch = { ...batch, rows: 0 };
const nothing = null as never;

const kinds = [
  { kind: "wasm", create: createWasmKernels, available: true },
  { kind: "native", create: createNativeKernels, available: nativeSupport().available },
] as const;

describe.each(kinds.filter(({ available }) => available))("$kind kernels", ({ create }) => {
  const kernels = create();
  const layer: Layer = {
    inputs: 3,
    outputs: 3,
    weights: kernels.allocate(9),
    bias: kernels.allocate(3),
  };
  const values = kernels.allocate(3);
  const add = { kind: "add", target: layer, scale: 1 } as const;
  const rule = { name: "adagrad", epsilon: 1e-8 } as const;
  const byRule = { kind: "rule", target: layer, scale: 1, rule, learningRate: 1, step: 1 } as const;
  const output = (gradient: never) =>
    kernels.output(kernels.upload(batch, 0), values, layer, "softmax", gradient, null, values);

  const refused: Readonly<Record<string, readonly [RegExp, () => unknown]>> = {
    "no rows of a batch": [/^upload: rows is 0, expected/u, () => kernels.upload(empty, 0)],
    "no rows of a dense layer": [
      /^dense: rows is 0, expected/u,
      () => kernels.dense(0, values, layer, "relu", values),
    ],
    "no rows going back": [
      /^denseBackward: rows is 0, expected/u,
      () => kernels.denseBackward(0, values, layer, "relu", values, values, add, values),
    ],
    "no rows to rank": [
      /^topK: rows is 0, expected/u,
      () => kernels.topK(0, values, layer, 1, new Uint32Array(1), values, values),
    ],
    "no options": [/options is null, expected an object/u, () => create(nothing)],
    "unknown options": [
      /^create\w+: there is no option thread, expected some of .*keptBytes/u,
      () => create({ thread: 4 } as never),
    ],
    "no batch": [/^upload: batch is null, expected an object/u, () => kernels.upload(nothing, 0)],
    "no layer": [
      /^dense: layer is null, expected an object/u,
      () => kernels.dense(1, values, nothing, "relu", values),
    ],
    "no layers": [
      /^trainMicroBatches: layers is null, expected an object/u,
      () => {
        const uploaded = kernels.upload(batch, 0);
        kernels.trainMicroBatches!(uploaded, nothing, "relu", "softmax", 1, 1, values);
      },
    ],
    "an undefined gradient": [
      /^output: gradient is undefined, expected an object/u,
      () => output(undefined as never),
    ],
    "no target": [
      /^output: gradient\.target is null, expected an object/u,
      () => output({ ...add, target: null } as never),
    ],
    "no rule": [
      /^output: gradient\.rule is null, expected an object/u,
      () => output({ ...byRule, state: [], rule: null } as never),
    ],
    "no state": [
      /^output: gradient\.state is undefined, expected an object/u,
      () => output(byRule as never),
    ],
    "no terms": [/^blend: terms is null/u, () => kernels.blend(values, nothing)],
    "an empty term": [/^blend: a term is null/u, () => kernels.blend(values, [nothing])],
  };
  test.each(Object.entries(refused))("refuse %s", (_, [message, misuse]) => {
    expect(misuse).toThrow(
      expect.objectContaining({
        code: "KERNEL_ARGUMENT",
        message: expect.stringMatching(message),
      }),
    );
  });

  test("refuse what is no array, with its name", () => {
    for (const misuse of [
      () => kernels.view(nothing, 0, 1),
      () => kernels.write(nothing, values),
      () => kernels.read(values, nothing),
    ]) {
      expect(misuse).toThrow(
        expect.objectContaining({
          code: "KERNEL_ARRAY",
          message: expect.stringMatching(/is null, expected a Float32Array/u),
        }),
      );
    }
  });

  test("refuse everything after dispose", () => {
    const gone = create();
    const own = gone.allocate(1);
    void gone.dispose();
    for (const misuse of [
      () => gone.allocate(1),
      () => gone.view(own, 0, 1),
      () => gone.write(own, own),
      () => gone.read(own, own),
      () => gone.upload(batch, 0),
      () => gone.workBytes(),
    ]) {
      expect(misuse).toThrow(expect.objectContaining({ code: "KERNEL_DISPOSED" }));
    }
  });
});

test("the plain kernels refuse a batch without rows as well", () => {
  expect(() => createPlainKernels().upload(empty, 0)).toThrow(RangeError);
});
