import {
  allocateShared,
  createRandom,
  createDatasetBuilder,
  type Dataset,
} from "@heterosgd/sparse";

/**
 * Rows whose labels follow from their features: feature f stands for label f mod `labels`, plus
 * noise.
 */
export function syntheticRows(
  rows: number,
  { features = 40, labels = 10, seed = 1 } = {},
): Dataset<SharedArrayBuffer> {
  const random = createRandom(seed);
  const builder = createDatasetBuilder({ features, labels });
  for (let row = 0; row < rows; row++) {
    const label = random.nextBelow(labels);
    const telling = label + labels * random.nextBelow(Math.floor(features / labels));
    const entries = new Map([[telling, 1]]);
    for (let i = random.nextBelow(4); i > 0; i--) entries.set(random.nextBelow(features), 0.2);
    entries.set(telling, 1);
    builder.addRow({ features: [...entries], labels: [label] });
  }
  return builder.finish(allocateShared);
}
