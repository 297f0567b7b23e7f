/** Rows for plans that nobody carries out. */
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import type { TrainingData } from "../src/data.js";

const builder = createDatasetBuilder({ features: 8, labels: 3 });
for (let row = 0; row < 12; row++) builder.addRow({ features: [[row % 8, 1]], labels: [row % 3] });
export const data: TrainingData = {
  train: builder.finish(allocateShared),
  evaluation: null,
  evaluatedOn: null,
  testFile: null,
  labels: 3,
  labelNames: null,
  format: "xc",
  labelValues: "ids",
  notices: [],
};
