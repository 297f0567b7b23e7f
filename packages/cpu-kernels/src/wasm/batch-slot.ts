import type { Batch } from "@heterosgd/model";
import { fail, hostArray, requireObject, whole } from "../checks.js";
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
      const rows = checkArrays(source);
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
      const nonZeros = checkOffsets("offsets", offsets, rows, "indices and values", covered);
      const labelCount = checkOffsets(
        "labelOffsets",
        labelOffsets,
        rows,
        "labels",
        source.labels.length,
      );

      const indices = own.indices.array();
      indices.set(source.indices.subarray(0, nonZeros));
      own.values.array().set(source.values.subarray(0, nonZeros));
      own.labels.array().set(source.labels.subarray(0, labelCount));
      place.features = checkAscending("indices", indices, offsets, rows);
      place.classes = checkAscending("labels", own.labels.array(), labelOffsets, rows);
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

function checkArrays(batch: Batch): number {
  requireObject("upload", "batch", batch);
  const rows = whole("upload", "rows", batch.rows, 1, 2 ** 32 - 2);
  hostArray("upload", "offsets", batch.offsets, Uint32Array, rows + 1);
  hostArray("upload", "indices", batch.indices, Uint32Array, 0);
  hostArray("upload", "values", batch.values, Float32Array, 0);
  hostArray("upload", "labelOffsets", batch.labelOffsets, Uint32Array, rows + 1);
  hostArray("upload", "labels", batch.labels, Uint32Array, 0);
  return rows;
}

/** Returns how many elements the rows cover. */
function checkOffsets(
  name: string,
  offsets: Uint32Array,
  rows: number,
  covered: string,
  available: number,
): number {
  if (offsets[0] !== 0) {
    fail("KERNEL_BATCH", "upload", `${name} start at ${offsets[0]}, expected 0`);
  }
  for (let row = 0; row < rows; row++) {
    if (offsets[row + 1]! >= offsets[row]!) continue;
    const fall = `fall from ${offsets[row]} to ${offsets[row + 1]} at row ${row}`;
    fail("KERNEL_BATCH", "upload", `${name} ${fall}, expected them to ascend`);
  }
  const end = offsets[rows]!;
  if (end > available) {
    const beyond = `beyond the ${available} elements of ${covered}`;
    fail("KERNEL_BATCH", "upload", `${name} end at ${end}, ${beyond}`);
  }
  return end;
}

/** Returns one more than the largest entry, 0 if there is none. */
function checkAscending(
  name: string,
  entries: Uint32Array,
  offsets: Uint32Array,
  rows: number,
): number {
  let bound = 0;
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    let before = -1;
    for (let i = offsets[row]!; i < end; i++) {
      const entry = entries[i]!;
      if (entry <= before) {
        fail(
          "KERNEL_BATCH",
          "upload",
          `${name} of row ${row} are not strictly ascending: ${before} comes before ${entry}`,
        );
      }
      before = entry;
    }
    if (before >= bound) bound = before + 1;
  }
  return bound;
}
