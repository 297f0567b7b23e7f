import type { Batch, Kernels, Layer } from "../src/index.js";

/**
 * `Kernels.trainMicroBatches` made of the kernels' other operations.
 *
 * @param scaleOf - what a step of so many rows multiplies its gradient by.
 */
export function microBatchesBy(
  kernels: Kernels,
  scaleOf: (learningRate: number, rows: number, microBatchRows: number) => number,
): NonNullable<Kernels["trainMicroBatches"]> {
  return (batch, layers, activation, loss, microBatchRows, learningRate, losses) => {
    const outputs = layers.map((layer) => kernels.allocate(batch.rows * layer.outputs));
    const dOutputs = layers.map((layer) => kernels.allocate(batch.rows * layer.outputs));
    const last = layers.length - 1;
    for (let from = 0; from < batch.rows; from += microBatchRows) {
      const rows = Math.min(microBatchRows, batch.rows - from);
      const part = rowsOf(batch, from, rows);
      const to = (layer: Layer) =>
        ({
          kind: "add",
          target: layer,
          scale: scaleOf(learningRate, rows, microBatchRows),
        }) as const;
      kernels.gather(part, layers[0]!, activation, outputs[0]!);
      for (let i = 1; i < last; i++) {
        kernels.dense(rows, outputs[i - 1]!, layers[i]!, activation, outputs[i]!);
      }
      kernels.output(
        part,
        outputs[last - 1]!,
        layers[last]!,
        loss,
        to(layers[last]!),
        dOutputs[last - 1]!,
        losses.subarray(from),
      );
      for (let i = last - 1; i > 0; i--) {
        kernels.denseBackward(
          rows,
          outputs[i - 1]!,
          layers[i]!,
          activation,
          outputs[i]!,
          dOutputs[i]!,
          to(layers[i]!),
          dOutputs[i - 1]!,
        );
      }
      kernels.scatter(part, layers[0]!, activation, outputs[0]!, dOutputs[0]!, to(layers[0]!));
    }
  };
}

/** Some rows of a batch; offsets are counted from its first non-zero and label. */
function rowsOf(batch: Batch, start: number, rows: number): Batch {
  const from = batch.offsets[start]!;
  const labelsFrom = batch.labelOffsets[start]!;
  const end = start + rows + 1;
  return {
    rows,
    offsets: batch.offsets.slice(start, end).map((offset) => offset - from),
    indices: batch.indices.subarray(from),
    values: batch.values.subarray(from),
    labelOffsets: batch.labelOffsets.slice(start, end).map((offset) => offset - labelsFrom),
    labels: batch.labels.subarray(labelsFrom),
  };
}
