import { expect, test } from "vitest";
import { operations } from "./cases.js";
import { parseSelection } from "./selection.js";

const implementations = ["plain", "wasm"];

test("nothing named is everything", () => {
  const selection = parseSelection(undefined, implementations);
  expect(selection.operations).toEqual(operations);
  expect(implementations.every(selection.includes)).toBe(true);
});

test("operations leave the implementations whole, and the other way round", () => {
  const some = parseSelection(["blend", "output"], implementations);
  expect(some.operations).toEqual(["output", "blend"]);
  expect(some.includes("plain")).toBe(true);
  const other = parseSelection(["wasm"], implementations);
  expect(other.operations).toEqual(operations);
  expect([other.includes("wasm"), other.includes("plain")]).toEqual([true, false]);
});

test("an unknown name is refused with those that there are", () => {
  expect(() => parseSelection(["outputs"], implementations)).toThrow(
    /no "outputs"; operations are output, .*implementations plain, wasm/,
  );
});
