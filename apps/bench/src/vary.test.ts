import { expect, test } from "vitest";
import { combinations, parseVariation } from "./vary.js";

test("every combination comes once, the last variation changing fastest", () => {
  const variations = ["a=1,2", "b=x,y"].map(parseVariation);
  expect(combinations(variations)).toEqual([
    ["1", "x"],
    ["1", "y"],
    ["2", "x"],
    ["2", "y"],
  ]);
  expect(combinations([])).toEqual([[]]);
});

test.each(["a", "a=", "=1"])("%j is refused", (text) => {
  expect(() => parseVariation(text)).toThrow("OPTION=VALUE");
});
