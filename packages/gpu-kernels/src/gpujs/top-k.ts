/**
 * The best classes of each row, block by block of classes. The device tells the largest score of each slice; the host
 * reads the k slices of each row that have the largest ones, in which the k best must lie, and only those that
 * can improve on what it has.
 */
import type { Arrays, LayerPlace, Place } from "./arrays.js";
import type { Block, Computer } from "./computer.js";
import { logSums, mergeLogSums, scoresOf, sliceMaxima } from "./output.js";
import * as programs from "./programs.js";
import {
  blockUnits,
  ceilDivide,
  partsOf,
  roundedUp,
  rowsPerBlock,
  slice,
  unitsPerBlock,
} from "./sizes.js";

export interface TopKCall {
  readonly rows: number;
  readonly hidden: Place;
  readonly layer: LayerPlace;
  readonly k: number;
  readonly ids: Uint32Array;
  readonly logits: Float32Array;
  readonly logSumExp: Float32Array;
}

export function createTopK(computer: Computer, arrays: Arrays): (call: TopKCall) => void {
  function readAll(block: Block): Float32Array {
    const values = new Float32Array(block.length);
    computer.read(block, values);
    return values;
  }

  return ({ rows, hidden, layer, k, ids, logits, logSumExp }) => {
    const { inputs: width, outputs: classes } = layer;
    const size = rowsPerBlock(width, blockUnits);
    const sources = arrays.onDevice(hidden, rows * width, size * width);
    const classSize = unitsPerBlock(width);
    const weights = arrays.onDevice(layer.weights, classes * width, classSize * width);
    const bias = arrays.onDevice(layer.bias, classes, classSize);

    for (const row of partsOf(rows, size)) {
      const from = row.first * k;
      const best = createBest(
        row.count,
        k,
        ids.subarray(from, from + row.count * k),
        logits.subarray(from, from + row.count * k),
      );
      let sums: Block | undefined;
      for (const { index, first, count } of partsOf(classes, classSize)) {
        const source = sources[row.index]!;
        const scores = scoresOf(computer, source, weights[index]!, bias[index]!, width, count);
        const maxima = sliceMaxima(computer, scores, row.count, count);
        sums = mergeLogSums(computer, sums, logSums(computer, scores, maxima, row.count, count));
        const slices = ceilDivide(count, slice);
        if (k >= slices) {
          const values = readAll(scores);
          for (let i = 0; i < row.count; i++) best.offer(i, first, values, i * count, count);
        } else {
          const { picks, picked } = pickSlices(best, readAll(maxima), row.count, slices);
          if (picked > 0) {
            const chosen = computer.upload(picks);
            const length = row.count * picked * slice;
            const some = computer.run(
              programs.takeSlices,
              length,
              [scores, chosen],
              [count, picked],
            );
            const values = readAll(some);
            computer.free(chosen, some);
            for (let i = 0; i < row.count * picked; i++) {
              const pick = picks[i]!;
              if (pick < 0) continue;
              const start = pick * slice;
              const own = Math.min(slice, count - start);
              best.offer(Math.floor(i / picked), first + start, values, i * slice, own);
            }
          }
        }
        computer.free(scores, maxima);
      }
      computer.read(sums!, logSumExp.subarray(row.first, row.first + row.count));
      computer.free(sums);
    }
  };
}

interface Best {
  readonly k: number;
  /** Classes `first`, `first + 1` … of a row, which come after all that were offered before. */
  readonly offer: (
    row: number,
    first: number,
    scores: Float32Array,
    start: number,
    count: number,
  ) => void;
  /** What a score has to be above to be among the best; −Infinity as long as there are fewer than k. */
  readonly bar: (row: number) => number;
}

/** Sorted lists in `ids` and `logits`, which begin with nothing in them. */
function createBest(rows: number, k: number, ids: Uint32Array, logits: Float32Array): Best {
  const filled = new Uint32Array(rows);

  function insert(row: number, id: number, logit: number): void {
    const start = row * k;
    // The first k all go in, whatever they are, so that ids are valid even in a diverged network.
    let position = filled[row]!;
    if (position === k) {
      if (!(logit > logits[start + k - 1]!)) return;
      position--;
    } else {
      filled[row] = position + 1;
    }
    for (; position > 0 && logit > logits[start + position - 1]!; position--) {
      logits[start + position] = logits[start + position - 1]!;
      ids[start + position] = ids[start + position - 1]!;
    }
    logits[start + position] = logit;
    ids[start + position] = id;
  }

  return {
    k,
    offer(row, first, scores, start, count) {
      for (let i = 0; i < count; i++) insert(row, first + i, scores[start + i]!);
    },
    bar: (row) => (filled[row]! < k ? -Infinity : logits[row * k + k - 1]!),
  };
}

/**
 * Which slices to read: of each row the k with the largest maxima, equal ones by ascending class, as far as they
 * are above the bar. Ascending within a row, −1 where a row has fewer than others.
 */
function pickSlices(
  best: Best,
  maxima: Float32Array,
  rows: number,
  slices: number,
): { readonly picks: Float32Array; readonly picked: number } {
  const chosen: number[][] = [];
  for (let row = 0; row < rows; row++) {
    const ids = new Uint32Array(best.k);
    const values = new Float32Array(best.k);
    const own = createBest(1, best.k, ids, values);
    own.offer(0, 0, maxima, row * slices, slices);
    const bar = best.bar(row);
    chosen.push(
      [...ids].filter((_, i) => bar === -Infinity || values[i]! > bar).toSorted((a, b) => a - b),
    );
  }
  const picked = Math.max(...chosen.map(({ length }) => length));
  const picks = new Float32Array(roundedUp(rows * picked)).fill(-1);
  for (const [row, own] of chosen.entries()) picks.set(own, row * picked);
  return { picks, picked };
}
