import { expect, test } from "vitest";
import { left, pairLines, right, tableLines } from "./table.js";

test("columns are as wide as their widest cell", () => {
  const rows = [
    ["cpu", "1"],
    ["cpu@0.5", "1,000"],
  ];
  expect(tableLines([left("device"), right("rows")], rows)).toEqual([
    "device    rows",
    "cpu          1",
    "cpu@0.5  1,000",
  ]);
});

test("missing cells are empty and lines have no trailing spaces", () => {
  expect(tableLines([left("a"), left("b")], [["x"]])).toEqual(["a  b", "x"]);
});

test("pairs have no heading", () => {
  expect(
    pairLines([
      ["a", "1"],
      ["bc", "2"],
    ]),
  ).toEqual(["a   1", "bc  2"]);
});
