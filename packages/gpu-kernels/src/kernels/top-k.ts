/**
 * The best classes of each row: slices of each block are ranked on their own, then what is best in
 * each is merged (`rank.cu`). So many rows at once as keep what is best in all slices within the budget
 * of a block.
 */
import type { GpuDriver, GpuPointer } from "../driver.js";
import type { LayerPlace } from "./arrays.js";
import { beyond, pointer, u32, type Launcher } from "./launch.js";
import { softmaxParts, type OutputRoom } from "./output.js";
import { identity, type Products } from "./products.js";
import type { Scratch } from "./scratch.js";
import {
  blocksOf,
  ceilDivide,
  rankedRows,
  rankingKeys,
  rankingSteps,
  slice,
  sortedFrom,
  type KeyLists,
} from "./sizes.js";

export interface TopKCall {
  readonly rows: number;
  readonly hidden: GpuPointer;
  readonly layer: LayerPlace;
  readonly k: number;
  readonly ids: Uint32Array;
  readonly logits: Float32Array;
  readonly logSumExp: Float32Array;
}

export function createTopK(
  driver: GpuDriver,
  launcher: Launcher,
  products: Products,
  scratch: Scratch,
  room: OutputRoom,
  blockBytes: number,
): (call: TopKCall) => Promise<void> {
  const listsRooms = [scratch.buffer(), scratch.buffer()];
  const resultRoom = scratch.buffer();

  function merge(
    rows: number,
    { count, length }: KeyLists,
    from: GpuPointer,
    { length: kept }: KeyLists,
    into: GpuPointer,
  ): void {
    if (kept < sortedFrom) {
      const values = [pointer(from), u32(count * length), u32(kept), pointer(into)];
      launcher.overRows("rank_keys", rows, 1, values);
      return;
    }
    const entries = rows * count * length;
    launcher.overElements("merge_keys", entries, [
      pointer(from),
      u32(count),
      u32(length),
      u32(entries),
      pointer(into),
      u32(kept),
    ]);
  }

  return async ({ rows, hidden, layer, k, ids, logits, logSumExp }) => {
    const { inputs: units, outputs: classes } = layer;
    const blocks = blocksOf(rows, classes, blockBytes);
    const { allSlices } = blocks;
    const most = rankedRows(rows, k, allSlices, blockBytes);
    const scores = room.scores(most * blocks.classes);
    const maxima = room.maxima(most * allSlices);
    const sums = room.sums(most * allSlices);
    // Keys, two words each, then the logarithms.
    const result = resultRoom(2 * most * k + most);
    const steps = rankingSteps(k, allSlices);
    const keys = rankingKeys(k, allSlices);
    const into = (step: number): GpuPointer => {
      if (step === steps.length - 1) return result;
      const turn = step % 2;
      return listsRooms[turn]!(2 * most * keys[turn]!);
    };
    const { length: kept } = steps[0]!;

    for (let firstRow = 0; firstRow < rows; firstRow += most) {
      const count = Math.min(most, rows - firstRow);
      const own = beyond(hidden, firstRow * units);
      for (let index = 0; index < blocks.count; index++) {
        const first = index * blocks.classes;
        const width = Math.min(blocks.classes, classes - first);
        const slices = ceilDivide(width, slice);
        const slicesBefore = index * blocks.slices;
        products.forward(count, own, layer, first, width, identity, scores);
        const block = { scores, count: width, slices, slicesBefore };
        softmaxParts(launcher, count, block, maxima, sums, allSlices);
        launcher.overRows(k < sortedFrom ? "rank_scores" : "sort_scores", count, slices, [
          pointer(scores),
          u32(first),
          u32(width),
          u32(kept),
          pointer(into(0)),
          u32(allSlices),
          u32(slicesBefore),
        ]);
      }
      for (let step = 1; step < steps.length; step++) {
        merge(count, steps[step - 1]!, into(step - 1), steps[step]!, into(step));
      }
      launcher.overElements("log_sum_exp", count, [
        pointer(maxima),
        pointer(sums),
        u32(allSlices),
        u32(count),
        pointer(beyond(result, 2 * count * k)),
      ]);
      const words = new Uint32Array(2 * count * k + count);
      await driver.read(result, words);
      decode(words, count * k, ids.subarray(firstRow * k), logits.subarray(firstRow * k));
      logSumExp.set(new Float32Array(words.buffer, 8 * count * k, count), firstRow);
    }
  };
}

/** Keys back to classes and logits (`key_of` in `rank.cu`). */
function decode(words: Uint32Array, count: number, ids: Uint32Array, logits: Float32Array): void {
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);
  for (let i = 0; i < count; i++) {
    ids[i] = ~words[2 * i]!;
    const order = words[2 * i + 1]!;
    bits[0] = order > 0x7fff_ffff ? order & 0x7fff_ffff : ~order;
    logits[i] = order === 0 ? NaN : float[0]!;
  }
}
