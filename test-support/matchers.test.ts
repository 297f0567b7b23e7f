import { describe, expect, it } from "vitest";

describe("toBeAllClose", () => {
  it("accepts numbers within the relative or the absolute tolerance", () => {
    expect(Float32Array.of(100.9, 0.01)).toBeAllClose([100, 0], { relative: 0.01, absolute: 0.01 });
    expect([1, Number.NaN, -Infinity]).toBeAllClose([1, Number.NaN, -Infinity], {});
  });

  it("names the numbers that lie too far apart", () => {
    expect(() => expect([1, 2, 3.2]).toBeAllClose([1, 2, 3], { relative: 0.01 })).toThrow(
      "1 of 3 numbers are not within relative 0.01, absolute 0:\n  [2] expected 3, received 3.2",
    );
  });

  it("refuses another length, NaN for a number, and anything for an infinity", () => {
    const tolerance = { absolute: 1e9 };
    expect(() => expect([1]).toBeAllClose([1, 2], tolerance)).toThrow("expected 2 numbers");
    expect(() => expect([Number.NaN]).toBeAllClose([1], tolerance)).toThrow("received NaN");
    expect(() => expect([1]).toBeAllClose([Infinity], tolerance)).toThrow("expected Infinity");
  });

  it("fails when negated on close numbers", () => {
    expect(() => expect([1]).not.toBeAllClose([1], {})).toThrow("not all within");
  });
});
