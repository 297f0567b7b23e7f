import { createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { createProgressReader, hitsIn } from "./fasttext.js";

test("its progress is read out of what it prints over and over", () => {
  const text =
    "\rProgress:   0.3% words/sec/thread:   10 lr:  0.99 avg.loss:  6.6 ETA:   0h 0m 2s" +
    "\rProgress: 100.0% words/sec/thread: 9050 lr:  0.00 avg.loss:  1.4 ETA:   0h 0m 0s\n";
  expect(createProgressReader()(text)).toEqual([0.003, 1]);
  expect(createProgressReader()("Read 0M words\n")).toEqual([]);
  const inPieces = createProgressReader();
  expect(Array.from(text).flatMap((letter) => inPieces(letter))).toEqual([0.003, 1]);
});

test("a prediction counts if it is among the row's labels; rows without labels count as missed", () => {
  const builder = createDatasetBuilder({ features: 4, labels: 20 });
  for (const labels of [[1, 12], [], [2], [3]]) builder.addRow({ features: [[0, 1]], labels });
  const held = builder.finish();
  expect(hitsIn("__label__12\n__label__1\n__label__1\n\n", held)).toBe(1);
  expect(hitsIn("__label__1\n__label__5\n__label__2\n__label__3\n", held)).toBe(3);
});
