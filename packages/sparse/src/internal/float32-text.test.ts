import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { float32Text } from "./float32-text.js";

/** Significant digits of a decimal. */
function digitsOf(text: string): string {
  return text.replace(/e.*/, "").replace(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
}

/** Whether any decimal of `precision` digits next to the value reads back as it. */
function hasShorter(value: number, precision: number): boolean {
  if (precision < 1) return false;
  const [mantissa, exponent] = Math.abs(value)
    .toExponential(precision - 1)
    .split("e");
  const units = Number(mantissa!.replace(".", ""));
  return [-1, 0, 1].some(
    (step) =>
      Math.fround(Number(`${units + step}e${Number(exponent) - precision + 1}`)) ===
      Math.abs(value),
  );
}

/** Whether the text reads back as the value, and no text with a digit less does. */
function isShortest(value: number): boolean {
  const text = float32Text(value);
  return Math.fround(Number(text)) === value && !hasShorter(value, digitsOf(text).length - 1);
}

describe("float32Text", () => {
  it("reads back as the same float32, and nothing shorter does", () => {
    const values = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(values, (value) => {
        expect(isShortest(value)).toBe(true);
      }),
      { seed: 1, numRuns: 5_000 },
    );
  });

  it("does so for every power of two, where the numbers below lie closer than those above", () => {
    const powers = Array.from({ length: 277 }, (_, i) => 2 ** (i - 149));
    expect(powers.filter((value) => !isShortest(value) || !isShortest(-value))).toEqual([]);
    expect(float32Text(2 ** -96)).toBe("1.2621775e-29");
  });

  it("does so for subnormal numbers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 23 }), (bits) => {
        expect(isShortest(bits * 2 ** -149)).toBe(true);
      }),
      { seed: 2, numRuns: 2_000 },
    );
  });

  it("gives back a short decimal as it was written", () => {
    const decimal = fc.tuple(
      fc.integer({ min: 1, max: 999_999 }),
      fc.integer({ min: -12, max: 5 }),
    );
    fc.assert(
      fc.property(decimal, ([units, power]) => {
        const text = String(Number(`${units}e${power}`));
        expect(float32Text(Math.fround(Number(text)))).toBe(text);
      }),
      { seed: 3, numRuns: 2_000 },
    );
  });

  it("keeps the sign of zero", () => {
    expect(float32Text(0)).toBe("0");
    expect(float32Text(-0)).toBe("-0");
  });
});
