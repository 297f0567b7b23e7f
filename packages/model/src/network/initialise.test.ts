import { describe, expect, it } from "vitest";
import { initialise, rowNorm } from "./initialise.js";
import { parameterLayout, type TensorView } from "./layout.js";
import type { ModelShape } from "./shape.js";

const shape: ModelShape = {
  features: 500,
  hidden: [40, 60],
  labels: 90,
  activation: "relu",
  loss: "softmax",
};

function initial(change: Partial<ModelShape> = {}, seed = 1, options = {}) {
  const layout = parameterLayout({ ...shape, ...change });
  const flat = new Float32Array(layout.length).fill(NaN);
  initialise(layout, flat, seed, options);
  return {
    layout,
    flat,
    valuesOf: ({ offset, length }: TensorView) => flat.subarray(offset, offset + length),
  };
}

function deviation(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
}

describe("initial parameters", () => {
  it("depend on the seed and on nothing else", () => {
    expect(initial({}, 7).flat).toEqual(initial({}, 7).flat);
    expect(initial({}, 7).flat).not.toEqual(initial({}, 8).flat);
  });

  it("have the documented deviations, and zeros in biases and padding", () => {
    const { layout, flat, valuesOf } = initial();
    const [input, hidden, output] = layout.layers.map(({ weights }) => valuesOf(weights));
    expect(deviation(input!)).toBeCloseTo(0.25, 2);
    expect(deviation(hidden!)).toBeCloseTo(Math.sqrt(2 / 40), 2);
    expect(deviation(output!)).toBeCloseTo(Math.sqrt(1 / 60), 2);
    const weights = layout.layers.reduce((sum, layer) => sum + layer.weights.length, 0);
    expect(flat.filter((value) => value === 0)).toHaveLength(layout.length - weights);
  });

  it("are smaller for longer rows and scaled on request", () => {
    const weights = (options: object) => {
      const { layout, valuesOf } = initial({}, 1, options);
      return valuesOf(layout.layers[0]!.weights)[3]!;
    };
    expect(weights({ rowNorm: 8 })).toBeCloseTo(weights({}) / 8, 9);
    expect(weights({ scale: 0.5 })).toBeCloseTo(weights({}) / 2, 9);
  });

  it("start hidden layers lower where the activation keeps negative values", () => {
    const { layout, valuesOf } = initial({ activation: "tanh" });
    expect(deviation(valuesOf(layout.layers[1]!.weights))).toBeCloseTo(Math.sqrt(1 / 40), 2);
  });

  it("start independent sigmoids at a probability of one in all labels", () => {
    const { layout, valuesOf } = initial({ loss: "sigmoid" });
    const bias = valuesOf(layout.layers.at(-1)!.bias);
    expect(bias.every((value) => value === Math.fround(-Math.log(90)))).toBe(true);
  });

  it("are refused for another array or a norm that isn't above 0", () => {
    const layout = parameterLayout(shape);
    expect(() => initialise(layout, new Float32Array(3), 1)).toThrow(RangeError);
    expect(() => initial({}, 1, { rowNorm: 0 })).toThrow(RangeError);
    expect(() => initial({}, 1, { scale: NaN })).toThrow(RangeError);
  });
});

describe("the norm of rows", () => {
  it("is the root mean square over all rows, empty ones included", () => {
    expect(rowNorm({ rows: 2, values: Float32Array.of(3, 4, 5) })).toBe(5);
    expect(rowNorm({ rows: 4, values: Float32Array.of(6, 8) })).toBe(5);
  });

  it("is 1 where there is nothing to scale", () => {
    expect(rowNorm({ rows: 0, values: new Float32Array() })).toBe(1);
    expect(rowNorm({ rows: 3, values: Float32Array.of(0) })).toBe(1);
  });
});
