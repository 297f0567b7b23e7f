/**
 * The sparse first layer. gpu.js has no scatter, so that its weights stay in host memory: the rows of the features
 * that occur in a batch are gathered into a block, which the device multiplies by; of the gradient it computes
 * those rows, which are read and applied where the weights lie.
 *
 * A chunk is so many features as one block has room for.
 */
import type { Activation } from "@heterosgd/model";
import type { LayerPlace, Arrays, Place } from "./arrays.js";
import type { HeldBatch } from "./batch-slot.js";
import type { Block, Computer } from "./computer.js";
import { sumColumns, type Rows } from "./dense.js";
import type { Update } from "./gradient.js";
import * as programs from "./programs.js";
import { blockElements, blockNonZeros, partsOf, roundedUp, rowsPerBlock } from "./sizes.js";

/** Features, and the entries of the batch that are theirs. */
interface Chunk {
  readonly first: number;
  readonly end: number;
  readonly firstEntry: number;
  readonly endEntry: number;
}

function chunksOf({ byFeature }: HeldBatch, units: number): readonly Chunk[] {
  const { count, starts } = byFeature;
  const most = Math.max(1, Math.floor(blockElements / units));
  const chunks: Chunk[] = [];
  for (let first = 0; first < count;) {
    let end = first + 1;
    while (end < count && end - first < most && starts[end + 1]! - starts[first]! <= blockNonZeros)
      end++;
    chunks.push({ first, end, firstEntry: starts[first]!, endEntry: starts[end]! });
    first = end;
  }
  return chunks;
}

/** A sparse matrix for `programs.sparse`: starts of rows, columns, values. */
interface SparseMatrix {
  readonly rows: number;
  readonly entries: Float32Array;
  readonly columnsAt: number;
  readonly valuesAt: number;
}

function emptyMatrix(rows: number, nonZeros: number): SparseMatrix {
  const room = roundedUp(nonZeros);
  const columnsAt = roundedUp(rows + 1);
  const valuesAt = columnsAt + room;
  return { rows, entries: new Float32Array(valuesAt + room), columnsAt, valuesAt };
}

/** Some rows of the batch by the chunk's features: columns count from its first feature. */
function byRow({ byFeature }: HeldBatch, chunk: Chunk, { first, count }: Rows): SparseMatrix {
  const { entryRows, entryValues, starts } = byFeature;
  const counts = new Uint32Array(count + 1);
  for (let i = chunk.firstEntry; i < chunk.endEntry; i++) {
    const row = entryRows[i]! - first;
    if (row >= 0 && row < count) counts[row + 1] = counts[row + 1]! + 1;
  }
  for (let row = 0; row < count; row++) counts[row + 1] = counts[row + 1]! + counts[row]!;
  const matrix = emptyMatrix(count, counts[count]!);
  const { entries, columnsAt, valuesAt } = matrix;
  entries.set(counts);
  for (let slot = chunk.first; slot < chunk.end; slot++) {
    for (let i = starts[slot]!; i < starts[slot + 1]!; i++) {
      const row = entryRows[i]! - first;
      if (row < 0 || row >= count) continue;
      const at = counts[row]!;
      counts[row] = at + 1;
      entries[columnsAt + at] = slot - chunk.first;
      entries[valuesAt + at] = entryValues[i]!;
    }
  }
  return matrix;
}

/** The chunk's features by some rows of the batch. */
function byColumn({ byFeature }: HeldBatch, chunk: Chunk, { first, count }: Rows): SparseMatrix {
  const { entryRows, entryValues, starts } = byFeature;
  const matrix = emptyMatrix(chunk.end - chunk.first, chunk.endEntry - chunk.firstEntry);
  const { entries, columnsAt, valuesAt } = matrix;
  let at = 0;
  for (let slot = chunk.first; slot < chunk.end; slot++) {
    for (let i = starts[slot]!; i < starts[slot + 1]!; i++) {
      const row = entryRows[i]! - first;
      if (row < 0 || row >= count) continue;
      entries[columnsAt + at] = row;
      entries[valuesAt + at] = entryValues[i]!;
      at++;
    }
    entries[slot - chunk.first + 1] = at;
  }
  return matrix;
}

/** The results of these rows: more where so many rows have a length that recurs. */
function multiply(
  computer: Computer,
  before: Block,
  matrix: SparseMatrix,
  dense: Block,
  units: number,
): Block {
  const entries = computer.upload(matrix.entries);
  const numbers = [units, matrix.columnsAt, matrix.valuesAt];
  const result = computer.run(programs.sparse, before.length, [before, entries, dense], numbers);
  computer.free(before, entries);
  return result;
}

export function createFirstLayer(computer: Computer, arrays: Arrays) {
  return {
    gather(batch: HeldBatch, layer: LayerPlace, activation: Activation, out: Place): void {
      const { outputs: units } = layer;
      const size = rowsPerBlock(units);
      const rows = partsOf(batch.rows, size);
      const [bias] = arrays.onDevice(layer.bias, units, units);
      const sums = rows.map(({ count }) =>
        computer.run(programs.repeat, count * units, [bias!], [units]),
      );
      const weights = arrays.onHost(layer.weights);
      for (const chunk of chunksOf(batch, units)) {
        const { features } = batch.byFeature;
        const touched = new Float32Array(roundedUp(chunk.end - chunk.first) * units);
        for (let slot = chunk.first; slot < chunk.end; slot++) {
          const from = features[slot]! * units;
          touched.set(weights.subarray(from, from + units), (slot - chunk.first) * units);
        }
        const block = computer.upload(touched);
        for (const part of rows) {
          const matrix = byRow(batch, chunk, part);
          sums[part.index] = multiply(computer, sums[part.index]!, matrix, block, units);
        }
        computer.free(block);
      }
      const results = sums.map((sum) => {
        const result = computer.run(programs.activations[activation], sum.length, [sum]);
        computer.free(sum);
        return result;
      });
      arrays.replace(out, batch.rows * units, size * units, results);
    },

    scatter(
      batch: HeldBatch,
      units: number,
      activation: Activation,
      outputs: Place,
      dOutputs: Place,
      update: Update,
    ): void {
      const size = rowsPerBlock(units);
      const rows = partsOf(batch.rows, size);
      const length = batch.rows * units;
      const values = arrays.onDevice(outputs, length, size * units);
      const derivatives = arrays
        .onDevice(dOutputs, length, size * units)
        .map((d, i) => computer.run(programs.derivatives[activation], d.length, [d, values[i]!]));
      const apply = update.onHost(units);
      const { features } = batch.byFeature;
      for (const chunk of chunksOf(batch, units)) {
        const slots = chunk.end - chunk.first;
        let gradient = computer.zeros(roundedUp(slots) * units);
        for (const part of rows) {
          const matrix = byColumn(batch, chunk, part);
          gradient = multiply(computer, gradient, matrix, derivatives[part.index]!, units);
        }
        const host = new Float32Array(slots * units);
        computer.read(gradient, host);
        computer.free(gradient);
        for (let i = 0; i < slots; i++) apply(features[chunk.first + i]!, host, i * units);
      }
      const sums = sumColumns(computer, derivatives, rows, units, 0, units);
      update.onDevice("bias", units)(0, sums);
      computer.free(sums, ...derivatives);
    },
  };
}
