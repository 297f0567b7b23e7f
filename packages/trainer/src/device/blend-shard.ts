import { weightedSum } from "@heterosgd/merge";
import type { BlendCall, BlendJournal, ModelMemory, ModelTerm } from "./api.js";

const BLOCK = 16_384;

export function createBlendJournal(): BlendJournal {
  return {
    results: new Float32Array(new SharedArrayBuffer(2 * BLOCK * 4)),
    blocks: new Int32Array(new SharedArrayBuffer(4)),
  };
}

/** One of the target's arrays, and what its elements become. */
interface Sum {
  readonly target: Float32Array;
  readonly sources: readonly Float32Array[];
  readonly coefficients: readonly number[];
}

/**
 * One shard of a blend, over shared memory. With a journal, it goes on from where the journal says.
 */
export function blendShard(call: BlendCall, memory: (slot: number) => ModelMemory): void {
  const { start, end, journal } = call;
  const target = memory(call.target);
  const sum = (
    into: Float32Array,
    terms: readonly ModelTerm[],
    pick: (model: ModelMemory) => Float32Array,
  ): Sum => ({
    target: into,
    sources: terms.map((term) => pick(memory(term.model))),
    coefficients: terms.map((term) => term.coefficient),
  });
  const sums = [
    sum(target.parameters, call.terms, (model) => model.parameters),
    ...target.state.map((array, i) => sum(array, call.stateTerms, (model) => model.state[i]!)),
  ];
  if (journal !== null) return blendInPlace(sums, start, end, journal);
  for (const { target: into, sources, coefficients } of sums) {
    weightedSum(into, sources, coefficients, start, end);
  }
}

/**
 * A block's result is put down before it replaces the block, so that nobody computes a block from
 * its own result.
 */
function blendInPlace(
  sums: readonly Sum[],
  start: number,
  end: number,
  { results, blocks }: BlendJournal,
): void {
  let block = 0;
  for (const { target, sources, coefficients } of sums) {
    for (let from = start; from < end; from += BLOCK) {
      const to = Math.min(end, from + BLOCK);
      block++;
      const putDown = Atomics.load(blocks, 0);
      if (block < putDown) continue;
      // Two places in turn: the result put down last stays until the next one is whole.
      const place = (block % 2) * BLOCK;
      const result = results.subarray(place, place + to - from);
      if (block > putDown) {
        const parts = sources.map((source) => source.subarray(from, to));
        weightedSum(result, parts, coefficients);
        Atomics.store(blocks, 0, block);
      }
      target.set(result, from);
    }
  }
}
