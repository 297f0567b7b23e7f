import type { ModelShape } from "@heterosgd/model";
import type { Dataset } from "@heterosgd/sparse";
import { TrainerError } from "../errors.js";

/**
 * Refuses data with features or labels that the network has no parameters for.
 *
 * @throws TrainerError DATA_MISMATCH
 */
export function requireFit(name: string, { features, labels }: Dataset, shape: ModelShape): void {
  if (features.columns <= shape.features && labels.columns <= shape.labels) return;
  throw new TrainerError(
    "DATA_MISMATCH",
    `the ${name} has ${features.columns} features and ${labels.columns} labels, but the network takes ` +
      `${shape.features} and ${shape.labels}; read it with the network's bounds`,
  );
}
