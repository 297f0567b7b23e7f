import { expect, test } from "vitest";
import { editDistance, suggest } from "./suggest.js";

test("counts insertions, changes, and swaps of neighbours as one slip each", () => {
  expect(editDistance("epoch", "epochs")).toBe(1);
  expect(editDistance("epocsh", "epochs")).toBe(1);
  expect(editDistance("batch", "match")).toBe(1);
  expect(editDistance("", "abc")).toBe(3);
});

test("suggests the nearest candidate, whatever its case", () => {
  expect(suggest("learningrate", ["batch", "learningRate", "hidden"])).toBe("learningRate");
});

test("suggests nothing where nothing is near", () => {
  expect(suggest("zzzzzz", ["batch", "learningRate"])).toBeNull();
});
