import type { Batch } from "@heterosgd/model";
import { batchArrays, batchEntries, batchOffsets } from "../checks.js";
import type { WasmFunctions } from "./module.js";
import type { Scratch } from "./scratch.js";
import { counterBytes, indicesAhead } from "./sizes.js";

/** Rows of a batch by addresses. */
export interface RowsPlace {
  readonly rows: number;
  /** One more than the largest feature and label, 0 if there are none. */
  readonly features: number;
  readonly classes: number;
  readonly offsets: number;
  readonly indices: number;
  readonly values: number;
  readonly labelOffsets: number;
  /** The labels by class, then row. */
  readonly labelCount: number;
  readonly labelClasses: number;
  readonly labelRows: number;
}

/** The largest batch so far, or that the arrays of one had room for. */
export interface Capacity {
  rows: number;
  nonZeros: number;
  labels: number;
}

export interface BatchSlot {
  /** What the last `fill` returned; undefined before, and after one that failed. */
  readonly batch: () => Batch | undefined;
  readonly place: RowsPlace & { readonly labels: number };
  /**
   * Copies a batch into the slot and checks the copy. What it returns stands for what is in the slot
   * until something else is; its arrays are the caller's.
   */
  readonly fill: (batch: Batch) => Batch;
  /** The copied offsets of labels. */
  readonly labelOffsets: () => Uint32Array;
}

/** Orders labels by class, in room that the slots share. */
export type LabelOrder = (
  rows: number,
  labelOffsets: number,
  labels: number,
  count: number,
  maxLabel: number,
  classes: number,
  labelRows: number,
) => void;

export function createLabelOrder(
  wasm: WasmFunctions,
  scratch: Scratch,
  counters: (bytes: number) => number,
  capacity: Capacity,
): LabelOrder {
  const classesRoom = scratch.buffer();
  const rowsRoom = scratch.buffer();
  return (rows, labelOffsets, labels, count, maxLabel, classes, labelRows) => {
    if (count === 0) return;
    const bytes = 4 * capacity.labels;
    wasm.labelOrder(
      rows,
      labelOffsets,
      labels,
      maxLabel,
      classes,
      labelRows,
      classesRoom(bytes),
      rowsRoom(bytes),
      counters(counterBytes),
    );
  };
}

export function createBatchSlot(
  memory: WebAssembly.Memory,
  scratch: Scratch,
  capacity: Capacity,
  order: LabelOrder,
): BatchSlot {
  let filled: Batch | undefined;
  const place = {
    rows: 0,
    features: 0,
    classes: 0,
    offsets: 0,
    indices: 0,
    values: 0,
    labelOffsets: 0,
    labels: 0,
    labelCount: 0,
    labelClasses: 0,
    labelRows: 0,
  };
  const words = () => createView(memory, scratch, Uint32Array);
  const own = {
    offsets: words(),
    indices: words(),
    values: createView(memory, scratch, Float32Array),
    labelOffsets: words(),
    labels: words(),
    labelClasses: words(),
    labelRows: words(),
  };

  function reserve({ rows, nonZeros, labels }: Capacity): void {
    place.offsets = own.offsets.reserve(rows + 1);
    place.indices = own.indices.reserve(nonZeros + indicesAhead);
    place.values = own.values.reserve(nonZeros);
    place.labelOffsets = own.labelOffsets.reserve(rows + 1);
    place.labels = own.labels.reserve(labels);
    place.labelClasses = own.labelClasses.reserve(labels);
    place.labelRows = own.labelRows.reserve(labels);
  }

  return {
    batch: () => filled,
    place,
    labelOffsets: () => own.labelOffsets.array(),

    fill(source) {
      filled = undefined;
      const rows = batchArrays(source, 2 ** 32 - 2);
      const covered = Math.min(source.indices.length, source.values.length);
      const larger = {
        rows: Math.max(capacity.rows, source.offsets.length - 1),
        nonZeros: Math.max(capacity.nonZeros, covered),
        labels: Math.max(capacity.labels, source.labels.length),
      };
      reserve(larger);
      // Not before there is room: a smaller batch shall not fail for want of a larger one's.
      Object.assign(capacity, larger);

      const offsets = own.offsets.array();
      const labelOffsets = own.labelOffsets.array();
      offsets.set(source.offsets.subarray(0, rows + 1));
      labelOffsets.set(source.labelOffsets.subarray(0, rows + 1));
      const nonZeros = batchOffsets("offsets", offsets, rows, covered, "indices and values");
      const labelCount = batchOffsets(
        "labelOffsets",
        labelOffsets,
        rows,
        source.labels.length,
        "labels",
      );

      const indices = own.indices.array();
      indices.set(source.indices.subarray(0, nonZeros));
      own.values.array().set(source.values.subarray(0, nonZeros));
      own.labels.array().set(source.labels.subarray(0, labelCount));
      place.features = batchEntries("indices", indices, offsets, rows);
      place.classes = batchEntries("labels", own.labels.array(), labelOffsets, rows);
      const last = nonZeros === 0 ? 0 : indices[nonZeros - 1]!;
      indices.fill(last, nonZeros, nonZeros + indicesAhead);

      order(
        rows,
        place.labelOffsets,
        place.labels,
        labelCount,
        place.classes - 1,
        place.labelClasses,
        place.labelRows,
      );
      place.rows = rows;
      place.labelCount = labelCount;
      filled = {
        rows,
        offsets: source.offsets,
        indices: source.indices,
        values: source.values,
        labelOffsets: source.labelOffsets,
        labels: source.labels,
      };
      return filled;
    },
  };
}

/** An array in the kernels' memory that grows. */
function createView<T extends Uint32Array | Float32Array>(
  memory: WebAssembly.Memory,
  scratch: Scratch,
  type: new (buffer: ArrayBufferLike, address: number, length: number) => T,
): { readonly reserve: (length: number) => number; readonly array: () => T } {
  const buffer = scratch.buffer();
  let array = new type(memory.buffer, 0, 0);
  return {
    reserve(length) {
      const address = buffer(4 * length);
      if (array.length < length) array = new type(memory.buffer, address, length);
      return address;
    },
    array: () => array,
  };
}
