import type { ReadResult } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { cutoffNotices, noticesOf } from "./data.js";

test("says which cut-offs there are too few labels for", () => {
  expect(cutoffNotices([1, 3, 1000], 159)).toEqual([
    "--cutoffs: 1,000 left out, since the network has only 159 labels.",
  ]);
  expect(cutoffNotices([1, 3], 3)).toEqual([]);
});

test("notices count one and many", () => {
  const read = (n: number) =>
    ({
      stats: { rowsWithoutLabels: n, rowsWithoutFeatures: 0, droppedFeatures: n, droppedLabels: n },
      notices: ["odd."],
    }) as unknown as ReadResult;
  expect(noticesOf("f", read(1))).toEqual([
    "f: odd.",
    "f: 1 row has no labels.",
    "f: 1 value of features that the model does not have was left out.",
    "f: 1 label that the model does not have was left out.",
  ]);
  expect(noticesOf("f", read(1200))).toEqual([
    "f: odd.",
    "f: 1,200 rows have no labels.",
    "f: 1,200 values of features that the model does not have were left out.",
    "f: 1,200 labels that the model does not have were left out.",
  ]);
});
