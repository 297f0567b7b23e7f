import {
  createNetwork,
  createTopK,
  optimizerStateArrays,
  parameterLayout,
  type Batch,
  type FlatGradientTarget,
  type ParameterLayout,
} from "@heterosgd/model";
import type { GpujsArray, GpujsKernels, GpujsLimits } from "./api.js";
import { blockRows, unitsPerBlock } from "./sizes.js";

/** Two steps and a ranking of a network with the same hidden layers and fewer features and labels. */
export async function warmUp(
  kernels: GpujsKernels,
  { shape }: ParameterLayout,
  { maxRows, optimizer }: Pick<GpujsLimits, "maxRows" | "optimizer">,
): Promise<void> {
  const rows = Math.min(maxRows, blockRows);
  const features = Math.min(shape.features, 1000);
  const labels = Math.min(shape.labels, unitsPerBlock(shape.hidden.at(-1)!) + 1);
  const layout = parameterLayout({ ...shape, features, labels });
  const network = createNetwork(kernels, layout, { maxRows: rows });
  const weights = kernels.allocate(layout.length);
  const common = { target: weights, scale: 1 / rows };
  const target: FlatGradientTarget<GpujsArray> =
    optimizer === null
      ? { ...common, kind: "add" }
      : {
          ...common,
          kind: "rule",
          rule: optimizer,
          learningRate: 0,
          step: 1,
          state: Array.from({ length: optimizerStateArrays(optimizer) }, () =>
            kernels.allocate(layout.length),
          ),
        };
  const count = Uint32Array.from({ length: rows + 1 }, (_, row) => row);
  const batch: Batch = {
    rows,
    offsets: count,
    indices: count.map((row) => row % features).subarray(0, rows),
    values: new Float32Array(rows).fill(1),
    labelOffsets: count,
    labels: count.map((row) => row % labels).subarray(0, rows),
  };
  const uploaded = kernels.upload(batch, 0);
  for (let i = 0; i < 2; i++) await network.train(uploaded, rows, weights, target);
  const k = Math.min(labels, 5);
  await network.predict(uploaded, rows, weights, k, createTopK(rows, k));
}
