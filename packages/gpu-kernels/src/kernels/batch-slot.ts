import type { Batch } from "@heterosgd/model";
import { batchArrays, batchEntries, batchOffsets, fail, whole } from "../checks.js";
import type { GpuDriver, GpuPointer } from "../driver.js";
import { beyond } from "./launch.js";
import { createSortRoom } from "./non-zeros-by-feature.js";
import type { Scratch } from "./scratch.js";
import { slotOffsets, slotWords } from "./sizes.js";

/** A batch that was uploaded. It stands for what is in its slot until something else is. */
export interface GpuBatch {
  readonly rows: number;
}

/** An uploaded batch by places on the device. */
export interface BatchPlace {
  readonly rows: number;
  readonly labelCount: number;
  readonly offsets: GpuPointer;
  readonly indices: GpuPointer;
  readonly values: GpuPointer;
  readonly labelOffsets: GpuPointer;
  readonly labels: GpuPointer;
  readonly labelRows: GpuPointer;
}

/** Its non-zeros by feature (`scatter.cu`). */
export interface FeaturePlace {
  /** Number of different features. */
  readonly count: number;
  readonly features: GpuPointer;
  readonly starts: GpuPointer;
  readonly entryRows: GpuPointer;
  readonly entryValues: GpuPointer;
}

export interface BatchSlots {
  readonly upload: (batch: Batch, slot: 0 | 1) => GpuBatch;
  /** For kernels on `compute`: they begin when the batch is there. */
  readonly use: (operation: string, batch: GpuBatch) => UsedBatch;
}

export interface UsedBatch {
  readonly place: BatchPlace;
  /** Throws if the batch names a feature or label that a layer lacks. */
  readonly checkFeatures: (operation: string, inputs: number) => void;
  readonly checkLabels: (operation: string, outputs: number) => void;
  /** Sorted at the first call, while the device is busy with what it was asked for before. */
  readonly byFeature: () => FeaturePlace;
}

/** The largest batch so far, or that the arrays of one had room for. */
interface Capacity {
  rows: number;
  nonZeros: number;
  labels: number;
}

/**
 * Two places for batches. A batch is checked and packed in host memory, and one copy of it goes to
 * the device beside the kernels that work on the other.
 */
export function createBatchSlots(driver: GpuDriver, scratch: Scratch): BatchSlots {
  const capacity: Capacity = { rows: 0, nonZeros: 0, labels: 0 };
  const sorting = createSortRoom();
  const slots = [0, 1].map(() => createSlot(driver, scratch, capacity));
  let current: ReturnType<typeof createSlot> | undefined;

  return {
    upload(batch, slot) {
      const own = slots[whole("upload", "slot", slot, 0, 1)]!;
      if (current === own) {
        driver.record(own.used, "compute");
        current = undefined;
      }
      return own.fill(batch);
    },

    use(operation, batch) {
      const own = slots.find(({ token }) => batch !== undefined && token() === batch);
      if (own === undefined) {
        const reason = "upload of these kernels did not return it, or another took its place";
        fail("KERNEL_BATCH", operation, `the batch is in no slot: ${reason}`);
      }
      if (current !== own) {
        // Of what the other slot's batch was used for until now.
        if (current !== undefined) driver.record(current.used, "compute");
        current = own;
      }
      return own.use(sorting);
    },
  };
}

function createSlot(driver: GpuDriver, scratch: Scratch, capacity: Capacity) {
  const room = scratch.buffer();
  const used = driver.createMark();
  const uploaded = driver.createMark();
  let words = new Uint32Array(0);
  let floats = new Float32Array(words.buffer);
  let token: GpuBatch | undefined;
  let isUnderWay = false;
  let filled: Filled | undefined;

  function reserve(count: number): GpuPointer {
    if (words.length < count) {
      words = new Uint32Array(count);
      floats = new Float32Array(words.buffer);
    }
    return room(count);
  }

  function send(start: number, end: number, base: GpuPointer): void {
    driver.write(words.subarray(start, end), beyond(base, start), "copy");
    driver.record(uploaded, "copy");
    isUnderWay = true;
  }

  function arrive(): void {
    if (!isUnderWay) return;
    driver.wait(uploaded, "compute");
    isUnderWay = false;
  }

  return {
    used,
    token: () => token,

    fill(source: Batch): GpuBatch {
      token = undefined;
      filled = undefined;
      const rows = batchArrays(source, 2 ** 31 - 1);
      const covered = Math.min(source.indices.length, source.values.length);
      const larger = {
        rows: Math.max(capacity.rows, source.offsets.length - 1, source.labelOffsets.length - 1),
        nonZeros: Math.max(capacity.nonZeros, covered),
        labels: Math.max(capacity.labels, source.labels.length),
      };
      const base = reserve(slotWords(larger.rows, larger.nonZeros, larger.labels));
      // Not before there is room: a smaller batch shall not fail for want of a larger one's.
      Object.assign(capacity, larger);

      // The copies are checked: nobody else can change them.
      words.set(source.offsets.subarray(0, rows + 1), 0);
      words.set(source.labelOffsets.subarray(0, rows + 1), rows + 1);
      const offsets = words.subarray(0, rows + 1);
      const labelOffsets = words.subarray(rows + 1, 2 * rows + 2);
      const nonZeros = batchOffsets("offsets", offsets, rows, covered, "indices and values");
      const available = source.labels.length;
      const labelCount = batchOffsets("labelOffsets", labelOffsets, rows, available, "labels");
      const at = slotOffsets(rows, nonZeros, labelCount);
      words.set(source.labels.subarray(0, labelCount), at.labels);
      words.set(source.indices.subarray(0, nonZeros), at.indices);
      floats.set(source.values.subarray(0, nonZeros), at.values);
      const indices = words.subarray(at.indices, at.indices + nonZeros);
      const labels = words.subarray(at.labels, at.labels + labelCount);
      const features = batchEntries("indices", indices, offsets, rows);
      const classes = batchEntries("labels", labels, labelOffsets, rows);
      for (let row = 0; row < rows; row++) {
        words.fill(row, at.labelRows + labelOffsets[row]!, at.labelRows + labelOffsets[row + 1]!);
      }

      driver.wait(used, "copy");
      send(0, at.features, base);
      filled = { rows, nonZeros, labelCount, features, classes, base, at, count: undefined };
      token = { rows };
      return token;
    },

    use(sorting: ReturnType<typeof createSortRoom>): UsedBatch {
      arrive();
      const own = filled!;
      const { rows, labelCount, nonZeros, base, at } = own;
      const place = (start: number) => beyond(base, start);
      return {
        place: {
          rows,
          labelCount,
          offsets: place(at.offsets),
          indices: place(at.indices),
          values: place(at.values),
          labelOffsets: place(at.labelOffsets),
          labels: place(at.labels),
          labelRows: place(at.labelRows),
        },

        checkFeatures(operation, inputs) {
          if (own.features <= inputs) return;
          const has = `the layer has ${inputs} inputs`;
          fail("KERNEL_BATCH", operation, `the batch names feature ${own.features - 1}, ${has}`);
        },

        checkLabels(operation, outputs) {
          if (own.classes <= outputs) return;
          const has = `the layer has ${outputs} outputs`;
          fail("KERNEL_BATCH", operation, `the batch names label ${own.classes - 1}, ${has}`);
        },

        byFeature() {
          if (own.count === undefined) {
            own.count = sorting.sort(
              rows,
              words.subarray(at.offsets, at.offsets + rows + 1),
              words.subarray(at.indices, at.indices + nonZeros),
              floats.subarray(at.values, at.values + nonZeros),
              {
                features: words.subarray(at.features, at.starts),
                starts: words.subarray(at.starts, at.entryRows),
                entryRows: words.subarray(at.entryRows, at.entryValues),
                entryValues: floats.subarray(at.entryValues, at.end),
              },
            );
            send(at.features, at.end, base);
            arrive();
          }
          return {
            count: own.count,
            features: place(at.features),
            starts: place(at.starts),
            entryRows: place(at.entryRows),
            entryValues: place(at.entryValues),
          };
        },
      };
    },
  };
}

interface Filled {
  readonly rows: number;
  readonly nonZeros: number;
  readonly labelCount: number;
  /** One more than the largest feature and label, 0 if there are none. */
  readonly features: number;
  readonly classes: number;
  readonly base: GpuPointer;
  readonly at: ReturnType<typeof slotOffsets>;
  /** Different features, once they are sorted. */
  count: number | undefined;
}
