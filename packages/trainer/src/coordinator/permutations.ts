import { fillPermutation } from "@heterosgd/sparse";
import type { RowRange } from "@heterosgd/scheduler";
import type { RowSpan } from "../device/api.js";

/**
 * The permutations of the epochs in use, in shared memory. A slot is filled anew for another epoch
 * as soon as no unanswered command refers to it; as a rule two slots serve a whole run.
 */
export interface Permutations {
  /** The ranges as devices understand them; each range holds its slot until it is released. */
  hold(ranges: readonly RowRange[]): RowSpan[];
  release(ranges: readonly RowRange[]): void;
  /** Every slot there is, in order: what a device that comes later must be told. */
  slots(): readonly Uint32Array[];
}

interface Slot {
  readonly order: Uint32Array;
  epoch: number;
  held: number;
}

/** @param announce - told of each new slot, in order, before any range refers to it. */
export function createPermutations(
  rows: number,
  seed: number,
  announce: (order: Uint32Array) => void,
): Permutations {
  const slots: Slot[] = [];

  function slotOf(epoch: number): number {
    const filled = slots.findIndex((slot) => slot.epoch === epoch);
    if (filled >= 0) return filled;
    // Keep the latest epoch's neighbour: ranges of two epochs are interleaved around an epoch's
    // end.
    const free = slots.length < 2 ? -1 : slots.findIndex((slot) => slot.held === 0);
    const index = free >= 0 ? free : slots.length;
    const slot = slots[index] ?? {
      order: new Uint32Array(new SharedArrayBuffer(rows * 4)),
      epoch: -1,
      held: 0,
    };
    fillPermutation(slot.order, seed, epoch);
    slot.epoch = epoch;
    if (index === slots.length) {
      slots.push(slot);
      announce(slot.order);
    }
    return index;
  }

  return {
    hold: (ranges) =>
      ranges.map(({ epoch, start, count }) => {
        const permutation = slotOf(epoch);
        (slots[permutation] as Slot).held++;
        return { permutation, start, count };
      }),
    release(ranges) {
      for (const { epoch } of ranges) {
        const slot = slots.find((candidate) => candidate.epoch === epoch);
        if (slot !== undefined) slot.held--;
      }
    },
    slots: () => slots.map(({ order }) => order),
  };
}
