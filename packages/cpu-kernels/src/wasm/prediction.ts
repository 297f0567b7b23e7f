import type { ParameterLayout, UpdateRule } from "@heterosgd/model";
import { toLines } from "./scratch.js";
import {
  blockBytes,
  blockClasses,
  counterBytes,
  defaultKeptBytes,
  indicesAhead,
  keptRoom,
  panelBytes,
  rowStateBytes,
  stagingBytes,
  tileBytes,
} from "./sizes.js";
import type { WasmKernelsOptions } from "./wasm-kernels.js";

/**
 * Bytes that such kernels come to keep for their own work, beside a network's arrays, where training
 * begins with a batch whose arrays have room for the largest: exact with one hidden layer, a little
 * too much with several of different sizes. What top-k keeps for each row (8 bytes times k,
 * and 4) is left out, and what `blend` and `trainMicroBatches` keep: 16 bytes a source; 8 bytes for
 * each unit and row of a step, and 8 for each label.
 */
export function wasmKernelsBytes(
  layout: ParameterLayout,
  limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly maxLabels: number;
    readonly optimizer: UpdateRule | null;
    readonly options: WasmKernelsOptions;
  },
): number {
  const { maxRows, maxNonZeros, maxLabels, optimizer, options } = limits;
  const { keptBytes = defaultKeptBytes } = options;
  const { labels, loss } = layout.shape;
  const hasRule = optimizer !== null;
  const dense = layout.layers.slice(1, -1);
  /** From the output layer on back to the first dense one. */
  const backwards = layout.layers.slice(1).toReversed();
  const units = backwards[0]!.inputs;
  const words = (count: number): number => toLines(4 * count);
  const slot =
    2 * words(maxRows + 1) +
    words(maxNonZeros + indicesAhead) +
    words(maxNonZeros) +
    3 * words(maxLabels);
  const labelOrder = 2 * words(maxLabels);
  const columnOrder = hasRule ? 5 * words(maxNonZeros) : 0;
  const kept = loss === "softmax" ? keptRoom(maxRows, labels, keptBytes) : 0;

  return (
    2 * slot +
    labelOrder +
    toLines(counterBytes) +
    columnOrder +
    grown([
      ...dense.map(({ inputs, outputs }) => panelBytes(outputs, inputs)),
      panelBytes(maxRows, units),
    ]) +
    grown(dense.map(({ outputs }) => stagingBytes(maxRows, outputs))) +
    grown(backwards.map(({ inputs }) => 4 * maxRows * inputs)) +
    toLines(blockBytes(labels, units)) +
    toLines(tileBytes(maxRows, labels)) +
    toLines(kept) +
    toLines(kept / blockClasses) +
    toLines(rowStateBytes(maxRows)) +
    grown([
      blockBytes(labels, units, hasRule),
      ...backwards.slice(1).map(({ inputs, outputs }) => 4 * outputs * (hasRule ? inputs : 1)),
      4 * layout.layers[0]!.outputs,
    ])
  );
}

/**
 * What a buffer takes that is asked for these sizes in turn: nothing can be given back, so that each
 * one that exceeds all before is taken anew.
 */
function grown(sizes: readonly number[]): number {
  let held = 0;
  let taken = 0;
  for (const size of sizes.map(toLines)) {
    if (size > held) taken += held = size;
  }
  return taken;
}
