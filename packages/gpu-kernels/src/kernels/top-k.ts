/**
 * The best classes of each row: slices of each block are ranked on their own, then what is best in
 * each (`rank.cu`). So many rows at once as keep what is best in all slices within the budget of a
 * block.
 */
import type { GpuDriver, GpuPointer } from "../driver.js";
import type { LayerPlace } from "./arrays.js";
import { beyond, pointer, u32, type Launcher } from "./launch.js";
import { softmaxParts, type OutputRoom } from "./output.js";
import { identity, type Products } from "./products.js";
import type { Scratch } from "./scratch.js";
import { blocksOf, ceilDivide, rankedRows, slice } from "./sizes.js";

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
  const candidatesRoom = scratch.buffer();
  const resultRoom = scratch.buffer();

  return async ({ rows, hidden, layer, k, ids, logits, logSumExp }) => {
    const { inputs: units, outputs: classes } = layer;
    const blocks = blocksOf(rows, classes, blockBytes);
    const { allSlices } = blocks;
    const most = rankedRows(rows, k, allSlices, blockBytes);
    const scores = room.scores(most * blocks.classes);
    const maxima = room.maxima(most * allSlices);
    const sums = room.sums(most * allSlices);
    const candidates = candidatesRoom(2 * most * allSlices * k);
    // Keys, two words each, then the logarithms.
    const result = resultRoom(2 * most * k + most);

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
        launcher.overRows("rank_scores", count, slices, [
          pointer(scores),
          u32(first),
          u32(width),
          u32(k),
          pointer(candidates),
          u32(allSlices),
          u32(slicesBefore),
        ]);
      }
      launcher.overRows("rank_keys", count, 1, [
        pointer(candidates),
        u32(allSlices * k),
        u32(k),
        pointer(result),
      ]);
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
