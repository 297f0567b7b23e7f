import type { Loss } from "@heterosgd/model";
import type { HeldBatch } from "./batch-slot.js";
import { roundedUp, type Part } from "./sizes.js";

/**
 * What the kernels know of labels, for some rows and some classes: where each row's labels start (`rows + 1`
 * numbers), each row's weight of a label (0: it has none in any block), and the labels, counted from the block's
 * first class.
 */
export function labelMarks(batch: HeldBatch, loss: Loss, rows: Part, classes: Part): Float32Array {
  const { labelOffsets, labels } = batch;
  const end = classes.first + classes.count;
  const found: number[] = [];
  const head = new Float32Array(2 * rows.count + 1);
  for (let i = 0; i < rows.count; i++) {
    const from = labelOffsets[rows.first + i]!;
    const to = labelOffsets[rows.first + i + 1]!;
    if (to > from) head[rows.count + 1 + i] = loss === "softmax" ? 1 / (to - from) : 1;
    for (let j = firstAtLeast(labels, from, to, classes.first); j < to && labels[j]! < end; j++) {
      found.push(labels[j]! - classes.first);
    }
    head[i + 1] = found.length;
  }
  const marks = new Float32Array(roundedUp(head.length + found.length));
  marks.set(head);
  marks.set(found, head.length);
  return marks;
}

/** The first of ascending values from `from` to `to` that is at least `least`, or `to`. */
function firstAtLeast(values: Uint32Array, from: number, to: number, least: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
