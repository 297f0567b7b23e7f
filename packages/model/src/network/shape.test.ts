import { describe, expect, it } from "vitest";
import { createPlainKernels } from "../kernels/plain/plain-kernels.js";
import { layersOf, parameterLayout } from "./layout.js";
import { checkShape, describeShape, type ModelShape } from "./shape.js";

const shape: ModelShape = {
  features: 38_853,
  hidden: [128, 30],
  labels: 15_929,
  activation: "relu",
  loss: "softmax",
};

describe("a shape", () => {
  it("is described in one line", () => {
    expect(describeShape(shape)).toBe(
      "38,853 features → 128 relu → 30 relu → 15,929 labels, softmax",
    );
    expect(describeShape({ ...shape, features: 1, hidden: [1], labels: 1 })).toBe(
      "1 feature → 1 relu → 1 label, softmax",
    );
  });

  it.each<[string, object]>([
    ["no features", { features: 0 }],
    ["a fraction of a label", { labels: 1.5 }],
    ["no hidden layer", { hidden: [] }],
    ["a hidden layer of no units", { hidden: [3, 0] }],
    ["more features than indices", { features: 2 ** 32 }],
    ["an unknown activation", { activation: "gelu" }],
    ["an unknown loss", { loss: "hinge" }],
  ])("is refused if it has %s", (_, change) => {
    expect(() => checkShape({ ...shape, ...change })).toThrow(RangeError);
  });
});

describe("the layout of parameters", () => {
  const layout = parameterLayout({ ...shape, features: 7, hidden: [5, 3], labels: 4 });

  it("names every tensor, aligned to cache lines and without overlap", () => {
    let end = 0;
    for (const { offset, length, dimensions } of layout.tensors) {
      expect(offset % 16).toBe(0);
      expect(offset - end).toBeGreaterThanOrEqual(0);
      expect(offset - end).toBeLessThan(16);
      expect(length).toBe(dimensions.reduce((a, b) => a * b));
      end = offset + length;
    }
    expect(layout.length - end).toBeLessThan(16);
    expect(layout.length % 16).toBe(0);
    expect(layout.tensors.map(({ name }) => name)).toEqual([
      "input.weight",
      "input.bias",
      "hidden.1.weight",
      "hidden.1.bias",
      "output.weight",
      "output.bias",
    ]);
  });

  it("counts parameters without padding", () => {
    expect(layout.parameterCount).toBe(7 * 5 + 5 + 5 * 3 + 3 + 3 * 4 + 4);
  });

  it("gives layers as views of the flat array, not copies", () => {
    const flat = new Float32Array(layout.length);
    const layers = layersOf(createPlainKernels(), layout, flat);
    layers[2]!.bias[3] = 42;
    expect(flat[layout.tensors[5]!.offset + 3]).toBe(42);
    expect(layers.map(({ inputs, outputs }) => [inputs, outputs])).toEqual([
      [7, 5],
      [5, 3],
      [3, 4],
    ]);
  });
});
