import type { ModelMemory } from "../device/api.js";

/** Work on a model that all share, which shows in it only when it is complete. */
export interface DeferredStep {
  /**
   * Has `work` change the model, and takes the change back out of it.
   *
   * @returns what adds the change to the model as it is then; once only, before the next `take`.
   */
  take<T>(model: ModelMemory, work: () => Promise<T>): Promise<{ result: T; land: () => void }>;
}

/**
 * One for each device: it keeps one change at a time.
 *
 * @param scratch - room that all of them share, used within `take`.
 */
export function createDeferredStep(
  scratch: (length: number, index: number) => Float32Array,
): DeferredStep {
  let changes: Float32Array[] = [];
  return {
    async take(model, work) {
      const arrays = [model.parameters, ...model.state];
      if (changes.length === 0) changes = arrays.map(({ length }) => new Float32Array(length));
      const before = arrays.map((array, i) => scratch(array.length, i));
      before.forEach((copy, i) => copy.set(arrays[i]!));
      const result = await work();
      for (const [i, array] of arrays.entries()) {
        const change = changes[i]!;
        const old = before[i]!;
        for (let k = 0; k < array.length; k++) change[k] = array[k]! - old[k]!;
        array.set(old);
      }
      const land = () => {
        for (const [i, array] of arrays.entries()) {
          const change = changes[i]!;
          for (let k = 0; k < array.length; k++) array[k]! += change[k]!;
        }
      };
      return { result, land };
    },
  };
}

/** Room that deferred steps share. */
export function createScratch(): (length: number, index: number) => Float32Array {
  const taken: Float32Array[] = [];
  return (length, index) => (taken[index] ??= new Float32Array(length));
}
