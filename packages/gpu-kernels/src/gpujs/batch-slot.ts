/** Two places for batches, which are checked and copied: whoever uploads may change theirs. */
import type { Batch } from "@heterosgd/model";
import { batchArrays, batchEntries, batchOffsets, fail, whole } from "../checks.js";
import { createSortRoom, type NonZerosByFeature } from "../kernels/non-zeros-by-feature.js";
import type { GpujsBatch } from "./api.js";

/** A batch in its slot. Arrays may be longer than needed. */
export interface HeldBatch {
  readonly rows: number;
  readonly labelOffsets: Uint32Array;
  readonly labels: Uint32Array;
  /** Its non-zeros feature by feature, rows ascending, and the number of different features. */
  readonly byFeature: NonZerosByFeature & { readonly count: number };
  /** Throws if the batch names a feature or label that a layer lacks. */
  readonly checkFeatures: (operation: string, inputs: number) => void;
  readonly checkLabels: (operation: string, outputs: number) => void;
}

export interface BatchSlots {
  readonly upload: (batch: Batch, slot: 0 | 1) => GpujsBatch;
  readonly use: (operation: string, batch: GpujsBatch) => HeldBatch;
}

export function createBatchSlots(): BatchSlots {
  const sorting = createSortRoom();
  const slots = [createSlot(), createSlot()];

  function createSlot() {
    let held: { readonly token: GpujsBatch; readonly batch: HeldBatch } | undefined;
    let words = new Uint32Array(0);

    function fill(source: Batch): HeldBatch {
      const rows = batchArrays(source, 2 ** 31 - 1);
      const covered = Math.min(source.indices.length, source.values.length);
      // The copies are checked: nobody else can change them.
      const offsets = source.offsets.slice(0, rows + 1);
      const labelOffsets = source.labelOffsets.slice(0, rows + 1);
      const nonZeros = batchOffsets("offsets", offsets, rows, covered, "indices and values");
      const labelCount = batchOffsets(
        "labelOffsets",
        labelOffsets,
        rows,
        source.labels.length,
        "labels",
      );
      const labels = source.labels.slice(0, labelCount);
      const indices = source.indices.slice(0, nonZeros);
      const values = source.values.slice(0, nonZeros);
      const features = batchEntries("indices", indices, offsets, rows);
      const classes = batchEntries("labels", labels, labelOffsets, rows);

      if (words.length < 4 * nonZeros + 1) words = new Uint32Array(4 * nonZeros + 1);
      const part = (index: number, length: number) =>
        words.subarray(index * nonZeros, index * nonZeros + length);
      const room: NonZerosByFeature = {
        features: part(0, nonZeros),
        entryRows: part(1, nonZeros),
        entryValues: new Float32Array(words.buffer, 8 * nonZeros, nonZeros),
        starts: part(3, nonZeros + 1),
      };
      const count = sorting.sort(rows, offsets, indices, values, room);
      return {
        rows,
        labelOffsets,
        labels,
        byFeature: { ...room, count },
        checkFeatures(operation, inputs) {
          if (features <= inputs) return;
          const has = `the layer has ${inputs} inputs`;
          fail("KERNEL_BATCH", operation, `the batch names feature ${features - 1}, ${has}`);
        },
        checkLabels(operation, outputs) {
          if (classes <= outputs) return;
          const has = `the layer has ${outputs} outputs`;
          fail("KERNEL_BATCH", operation, `the batch names label ${classes - 1}, ${has}`);
        },
      };
    }

    return {
      held: () => held,
      upload(source: Batch): GpujsBatch {
        held = undefined;
        const batch = fill(source);
        const token = { rows: batch.rows };
        held = { token, batch };
        return token;
      },
    };
  }

  return {
    upload: (batch, slot) => slots[whole("upload", "slot", slot, 0, 1)]!.upload(batch),

    use(operation, batch) {
      const found = slots.find((slot) => batch !== undefined && slot.held()?.token === batch);
      if (found !== undefined) return found.held()!.batch;
      const reason = "upload of these kernels did not return it, or another took its place";
      fail("KERNEL_BATCH", operation, `the batch is in no slot: ${reason}`);
    },
  };
}
