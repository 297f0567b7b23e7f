import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDecimal } from "./decimal.js";

function parse(text: string): number {
  const bytes = new TextEncoder().encode(`<${text}>`);
  return parseDecimal(bytes, 1, bytes.length - 1);
}

const digits = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
    minLength: 1,
    maxLength,
  });

describe("parseDecimal", () => {
  it("gives the float32 that Number gives, for decimals of every length and exponent", () => {
    const decimal = fc
      .tuple(
        fc.constantFrom("", "-", "+"),
        digits(25),
        fc.option(digits(25), { nil: null }),
        fc.option(fc.integer({ min: -60, max: 60 }), { nil: null }),
      )
      .map(
        ([sign, whole, fraction, exponent]) =>
          sign +
          whole +
          (fraction === null ? "" : `.${fraction}`) +
          (exponent === null ? "" : `e${exponent}`),
      );
    fc.assert(
      fc.property(decimal, (text) => {
        expect(parse(text)).toBe(Math.fround(Number(text)));
      }),
      { seed: 1, numRuns: 20_000 },
    );
  });

  it("gives the float32 that Number gives, half-way between two of them and a hair off", () => {
    const mantissas = fc.bigInt({ min: 2n ** 23n, max: 2n ** 24n - 1n });
    fc.assert(
      fc.property(mantissas, fc.integer({ min: -60, max: 60 }), (mantissa, power) => {
        // (2m + 1) · 2^power exactly: as a whole number, or over a power of ten.
        const odd = 2n * mantissa + 1n;
        const [whole, exponent] =
          power < 0 ? [odd * 5n ** BigInt(-power), power] : [odd * 2n ** BigInt(power), 0];
        for (const step of [-1n, 0n, 1n]) {
          const text = `${whole * 1000n + step}e${exponent - 3}`;
          expect(parse(text)).toBe(Math.fround(Number(text)));
        }
      }),
      { seed: 2, numRuns: 5_000 },
    );
  });

  it("gives the float32 that Number gives where a power of ten is not exact", () => {
    // 15 digits times 10^23 or 10^-23, as near to the middle of two float32 as such numbers come.
    const mantissas = fc.bigInt({ min: 2n ** 23n, max: 2n ** 24n - 1n });
    fc.assert(
      fc.property(mantissas, (mantissa) => {
        const large = ((2n * mantissa + 1n) * 2n ** 100n) / 10n ** 23n;
        const small = ((2n * mantissa + 1n) * 10n ** 23n) / 2n ** 52n;
        for (const text of [
          `${large}e23`,
          `${large + 1n}e23`,
          `${small}e-23`,
          `${small + 1n}e-23`,
        ]) {
          expect(parse(text)).toBe(Math.fround(Number(text)));
        }
      }),
      { seed: 4, numRuns: 5_000 },
    );
  });

  it("gives the float32 that Number gives for the shortest text of any float64", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parse(String(value))).toBe(Math.fround(Number(String(value))));
      }),
      { seed: 3, numRuns: 5_000 },
    );
  });

  it("takes digits on one side of the point only, and keeps the sign of zero", () => {
    expect(parse(".5")).toBe(0.5);
    expect(parse("5.")).toBe(5);
    expect(parse("-.5E+1")).toBe(-5);
    expect(parse("0e99999999999")).toBe(0);
    expect(parse("-0")).toBe(-0);
  });

  it("is infinite beyond float32", () => {
    expect(parse("1e39")).toBe(Infinity);
    expect(parse("-3.5e38")).toBe(-Infinity);
    expect(parse("1e999999999999999")).toBe(Infinity);
  });

  it.each([
    "",
    "-",
    "+",
    ".",
    "-.",
    "e5",
    "1e",
    "1e+",
    "1..2",
    "1.2.3",
    "--1",
    "1-",
    "0x10",
    "1_0",
    "1,5",
    "nan",
    "inf",
    "1f",
    " 1",
  ])("refuses %j", (text) => {
    expect(parse(text)).toBeNaN();
  });
});
