import fc from "fast-check";
import { expect, test } from "vitest";
import { apart, shorten, textWidth } from "./labels.js";

test("long names lose their middle", () => {
  expect(shorten("short", 9)).toBe("short");
  expect(shorten("device 10 (cpu@0.5)", 9)).toBe("devi…0.5)");
  expect(textWidth(shorten("w".repeat(500)))).toBeLessThan(300);
});

test("labels lie apart, in their order, above the end where there is room", () => {
  expect(apart([10, 12, 40], 10, 100)).toEqual([10, 20, 40]);
  expect(apart([98, 99, 100], 10, 100)).toEqual([80, 90, 100]);
  const places = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(places, (wanted) => {
      const placed = apart(wanted, 15, 200);
      const sorted = placed.toSorted((a, b) => a - b);
      for (const [i, place] of sorted.slice(1).entries()) {
        expect(place - sorted[i]!).toBeGreaterThanOrEqual(15 - 1e-9);
      }
      expect(Math.max(0, ...placed)).toBeLessThanOrEqual(200);
    }),
  );
});
