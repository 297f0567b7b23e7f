/**
 * The output layer and its loss, block of classes by block, in one pass (sigmoid) or two (softmax,
 * whose normaliser needs all logits first). Gradients take effect block by block too, so that no
 * array of rows × classes or classes × units is needed. Only the softmax's logits are kept for its
 * second pass, if they fit a budget.
 */
import type { Loss } from "@heterosgd/model";
import type { GpuPointer } from "../driver.js";
import type { LayerPlace } from "./arrays.js";
import type { BatchPlace } from "./batch-slot.js";
import type { Update } from "./gradient.js";
import { beyond, pointer, u32, type Launcher } from "./launch.js";
import { identity, type Products } from "./products.js";
import type { Scratch, ScratchBuffer } from "./scratch.js";
import { blocksOf, ceilDivide, slice } from "./sizes.js";

/** A block's classes and where its scores are: `scores[rows × count]`. */
interface Block {
  readonly first: number;
  readonly count: number;
  readonly slices: number;
  /** Slices of the blocks before. */
  readonly slicesBefore: number;
  readonly scores: GpuPointer;
}

/** Room that the output layer and ranking share: they never work at once. */
export interface OutputRoom {
  readonly scores: ScratchBuffer;
  readonly maxima: ScratchBuffer;
  readonly sums: ScratchBuffer;
}

export function createOutputRoom(scratch: Scratch): OutputRoom {
  return { scores: scratch.buffer(), maxima: scratch.buffer(), sums: scratch.buffer() };
}

export interface OutputBudget {
  readonly blockBytes: number;
  readonly keptBytes: number;
}

export interface OutputCall {
  readonly batch: BatchPlace;
  readonly hidden: GpuPointer;
  readonly layer: LayerPlace;
  readonly loss: Loss;
  readonly update: Update | null;
  readonly dHidden: GpuPointer | null;
  readonly losses: GpuPointer;
}

export function createOutput(
  launcher: Launcher,
  products: Products,
  scratch: Scratch,
  room: OutputRoom,
  { blockBytes, keptBytes }: OutputBudget,
): (call: OutputCall) => void {
  const pickedRoom = scratch.buffer();
  const rowMaximaRoom = scratch.buffer();
  const rowInversesRoom = scratch.buffer();

  return ({ batch, hidden, layer, loss, update, dHidden, losses }) => {
    const { rows, labelCount } = batch;
    const { inputs: units, outputs: classes } = layer;
    const blocks = blocksOf(rows, classes, blockBytes);
    const isSoftmax = loss === "softmax";
    const isBackward = update !== null || dHidden !== null;
    const keeps = isSoftmax && isBackward && 4 * rows * classes <= keptBytes;
    const scores = room.scores(rows * (keeps ? classes : blocks.classes));
    const sums = room.sums(rows * blocks.allSlices);
    const picked = pickedRoom(Math.max(1, labelCount));

    const blockAt = (index: number): Block => {
      const first = index * blocks.classes;
      const count = Math.min(blocks.classes, classes - first);
      return {
        first,
        count,
        slices: ceilDivide(count, slice),
        slicesBefore: index * blocks.slices,
        scores: keeps ? beyond(scores, rows * first) : scores,
      };
    };

    const score = ({ first, count, scores: own }: Block) =>
      products.forward(rows, hidden, layer, first, count, identity, own);

    const labelled = ({ first, count }: Block) => [u32(first), u32(count)] as const;

    const pick = (block: Block) =>
      launcher.overElements("pick_labels", labelCount, [
        pointer(block.scores),
        ...labelled(block),
        pointer(batch.labels),
        pointer(batch.labelRows),
        u32(labelCount),
        pointer(picked),
      ]);

    const subtractLabels = (block: Block) =>
      launcher.overElements("subtract_labels", labelCount, [
        pointer(block.scores),
        ...labelled(block),
        pointer(batch.labelOffsets),
        pointer(batch.labels),
        pointer(batch.labelRows),
        u32(labelCount),
        u32(isSoftmax ? 1 : 0),
      ]);

    /** The block's derivatives go back to the hidden rows and into the gradient. */
    const propagate = ({ first, count, scores: own }: Block) => {
      if (dHidden !== null) {
        products.backward(rows, own, layer, first, count, first > 0, dHidden);
      }
      if (update !== null) products.update(rows, own, hidden, units, first, count, update);
    };

    if (!isSoftmax) {
      for (let index = 0; index < blocks.count; index++) {
        const block = blockAt(index);
        score(block);
        pick(block);
        launcher.overRows("sigmoid_parts", rows, block.slices, [
          pointer(block.scores),
          u32(block.count),
          pointer(sums),
          u32(blocks.allSlices),
          u32(block.slicesBefore),
        ]);
        if (!isBackward) continue;
        launcher.overRows("sigmoid_derivatives", rows, block.slices, [
          pointer(block.scores),
          u32(block.count),
          pointer(batch.labelOffsets),
        ]);
        subtractLabels(block);
        propagate(block);
      }
      launcher.overElements("sigmoid_losses", rows, [
        pointer(sums),
        u32(blocks.allSlices),
        pointer(batch.labelOffsets),
        pointer(picked),
        u32(rows),
        pointer(losses),
      ]);
      return;
    }

    const maxima = room.maxima(rows * blocks.allSlices);
    const rowMaxima = rowMaximaRoom(rows);
    const rowInverses = rowInversesRoom(rows);
    for (let index = 0; index < blocks.count; index++) {
      const block = blockAt(index);
      score(block);
      pick(block);
      softmaxParts(launcher, rows, block, maxima, sums, blocks.allSlices);
    }
    launcher.overElements("softmax_losses", rows, [
      pointer(maxima),
      pointer(sums),
      u32(blocks.allSlices),
      pointer(batch.labelOffsets),
      pointer(picked),
      u32(rows),
      pointer(rowMaxima),
      pointer(rowInverses),
      pointer(losses),
    ]);
    if (!isBackward) return;
    for (let index = 0; index < blocks.count; index++) {
      const block = blockAt(index);
      if (!keeps && blocks.count > 1) score(block);
      launcher.overRows("softmax_derivatives", rows, block.slices, [
        pointer(block.scores),
        u32(block.count),
        pointer(batch.labelOffsets),
        pointer(rowMaxima),
        pointer(rowInverses),
      ]);
      subtractLabels(block);
      propagate(block);
    }
  };
}

/** Maxima and sums of the slices of a block. */
export function softmaxParts(
  launcher: Launcher,
  rows: number,
  block: Pick<Block, "scores" | "count" | "slices" | "slicesBefore">,
  maxima: GpuPointer,
  sums: GpuPointer,
  allSlices: number,
): void {
  launcher.overRows("softmax_parts", rows, block.slices, [
    pointer(block.scores),
    u32(block.count),
    pointer(maxima),
    pointer(sums),
    u32(allSlices),
    u32(block.slicesBefore),
  ]);
}
