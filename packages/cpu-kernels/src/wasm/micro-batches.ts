/** Many small steps of plain SGD in one call, in order. */
import { gradientNumbers, type LayerPlace } from "./arguments.js";
import type { BatchSlot, Capacity, LabelOrder } from "./batch-slot.js";
import type { WasmFunctions } from "./module.js";
import type { Operations } from "./operations.js";
import type { Scratch } from "./scratch.js";

/** Trains on an uploaded batch, `microRows` rows at a time; `layers` are at least two. */
export type TrainMicroBatches = (
  slot: BatchSlot,
  layers: readonly LayerPlace[],
  activation: number,
  loss: number,
  microRows: number,
  learningRate: number,
  losses: number,
) => void;

export function createMicroBatches(
  wasm: WasmFunctions,
  scratch: Scratch,
  capacity: Capacity,
  operations: Operations,
  order: LabelOrder,
): TrainMicroBatches {
  const activations: ((bytes: number) => number)[] = [];
  const derivatives: ((bytes: number) => number)[] = [];
  const labelClasses = scratch.buffer();
  const labelRows = scratch.buffer();
  const outputs: number[] = [];
  const dOutputs: number[] = [];

  const { add } = gradientNumbers;

  function setTarget({ weights, bias }: LayerPlace, scale: number): void {
    wasm.setGradient(add, scale, weights, bias);
  }

  return (slot, layers, activation, loss, microRows, learningRate, losses) => {
    const whole = slot.place;
    const last = layers.length - 2;
    const largest = Math.min(microRows, whole.rows);
    for (let i = 0; i <= last; i++) {
      activations[i] ??= scratch.buffer();
      derivatives[i] ??= scratch.buffer();
      const bytes = 4 * largest * layers[i]!.outputs;
      outputs[i] = activations[i]!(bytes);
      dOutputs[i] = derivatives[i]!(bytes);
    }
    const classesAt = labelClasses(4 * capacity.labels);
    const rowsAt = labelRows(4 * capacity.labels);
    const labelOffsets = slot.labelOffsets();
    const first = layers[0]!;
    const output = layers[last + 1]!;
    // Positions of non-zeros count from the whole batch's first.
    const batch = { ...whole, labelClasses: classesAt, labelRows: rowsAt };

    for (let start = 0; start < whole.rows; start += microRows) {
      const rows = Math.min(microRows, whole.rows - start);
      const firstLabel = labelOffsets[start]!;
      const labelCount = labelOffsets[start + rows]! - firstLabel;
      const ownOffsets = whole.labelOffsets + 4 * start;
      order(rows, ownOffsets, whole.labels, labelCount, whole.classes - 1, classesAt, rowsAt);
      batch.rows = rows;
      batch.offsets = whole.offsets + 4 * start;
      batch.labelOffsets = ownOffsets;
      batch.labelCount = labelCount;
      const scale = -learningRate / rows;

      operations.gather(batch, first, activation, outputs[0]!);
      for (let i = 1; i <= last; i++) {
        operations.dense(rows, outputs[i - 1]!, layers[i]!, activation, outputs[i]!);
      }
      setTarget(output, scale);
      const ownLosses = losses + 4 * start;
      operations.output(batch, outputs[last]!, output, loss, add, dOutputs[last]!, ownLosses);
      for (let i = last; i > 0; i--) {
        setTarget(layers[i]!, scale);
        operations.denseBackward(
          rows,
          outputs[i - 1]!,
          layers[i]!,
          activation,
          outputs[i]!,
          dOutputs[i]!,
          add,
          dOutputs[i - 1]!,
        );
      }
      setTarget(first, scale);
      operations.scatter(batch, first, activation, outputs[0]!, dOutputs[0]!, add);
    }
  };
}
