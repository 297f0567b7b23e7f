import type { BlendTerm } from "@heterosgd/model";
import type { BlendCall, BlendJournal, ModelMemory, ModelTerm } from "./api.js";

const BLOCK = 16_384;

export function createBlendJournal(): BlendJournal {
  return {
    results: new Float32Array(new SharedArrayBuffer(2 * BLOCK * 4)),
    blocks: new Int32Array(new SharedArrayBuffer(4)),
  };
}

/** Blends arrays in shared memory, as `Kernels.blend` does. */
export type Blend = (target: Float32Array, terms: readonly BlendTerm[]) => void;

export interface ShardBlender {
  /**
   * One shard of a blend, over shared memory. With a journal, it goes on from where the journal says.
   */
  blend(call: BlendCall, memory: (slot: number) => ModelMemory): void;
}

/** One of the target's arrays, and what its elements become. */
interface Sum {
  readonly target: Float32Array;
  readonly terms: readonly BlendTerm[];
}

/** @param allocate - takes elements that `blend` can work on; for one block, when first needed. */
export function createShardBlender(
  blend: Blend,
  allocate: (length: number) => Float32Array,
): ShardBlender {
  let scratch: Float32Array | undefined;

  /**
   * A block's result is put down before it replaces the block, so that nobody computes a block from
   * its own result.
   */
  function blendInPlace(sums: readonly Sum[], { results, blocks }: BlendJournal): void {
    scratch ??= allocate(BLOCK);
    let block = 0;
    for (const { target, terms } of sums) {
      for (let from = 0; from < target.length; from += BLOCK) {
        const to = Math.min(target.length, from + BLOCK);
        block++;
        const putDown = Atomics.load(blocks, 0);
        if (block < putDown) continue;
        // Two places in turn: the result put down last stays until the next one is whole.
        const place = (block % 2) * BLOCK;
        const result = results.subarray(place, place + to - from);
        if (block > putDown) {
          const own = scratch.subarray(0, to - from);
          blend(
            own,
            terms.map(({ coefficient, source }) => ({
              coefficient,
              source: source.subarray(from, to),
            })),
          );
          result.set(own);
          Atomics.store(blocks, 0, block);
        }
        target.set(result, from);
      }
    }
  }

  return {
    blend({ start, end, journal, ...call }, memory) {
      const target = memory(call.target);
      const sum = (
        into: Float32Array,
        terms: readonly ModelTerm[],
        pick: (model: ModelMemory) => Float32Array,
      ): Sum => ({
        target: into.subarray(start, end),
        terms: terms.map(({ model, coefficient }) => ({
          coefficient,
          source: pick(memory(model)).subarray(start, end),
        })),
      });
      const sums = [
        sum(target.parameters, call.terms, (model) => model.parameters),
        ...target.state.map((array, i) => sum(array, call.stateTerms, (model) => model.state[i]!)),
      ];
      if (journal !== null) return blendInPlace(sums, journal);
      for (const { target: into, terms } of sums) blend(into, terms);
    },
  };
}
