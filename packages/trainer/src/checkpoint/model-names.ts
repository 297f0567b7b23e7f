import type { ModelName } from "@heterosgd/scheduler";
import type { ModelMemory } from "../device/api.js";
import { ownerOf, stateArraysOf } from "../coordinator/model-table.js";
import { matching, type Check } from "./checks.js";

/** A model's arrays, as a snapshot or a device has them. */
export type ModelArrays = Pick<ModelMemory, "parameters" | "state">;

export function copyArrays(from: ModelArrays, into: ModelArrays): void {
  into.parameters.set(from.parameters);
  into.state.forEach((array, i) => array.set(from.state[i]!));
}

export const modelName: Check<ModelName> = matching(
  /^(?:global|previous|next|replica:\d{1,6}|gradient:\d{1,6}:[01])$/,
  "a model's name",
);

/** One array of a model. */
export interface ArrayName {
  readonly model: ModelName;
  /** Which of the optimiser's state arrays it is, null for the parameters. */
  readonly state: number | null;
}

/**
 * The arrays of these models beside the parameters of `global`, which are a model file of their own.
 *
 * @param states - the optimiser's state arrays of a model; accumulators have none.
 */
export function arraysOf(names: readonly ModelName[], states: number): readonly ArrayName[] {
  return names.flatMap((model) => {
    const length = stateArraysOf(model, states);
    const parameters = model === "global" ? [] : [{ model, state: null }];
    return [...parameters, ...Array.from({ length }, (_, state) => ({ model, state }))];
  });
}

/** Splits a checkpoint's arrays into what suffices on any devices, and what only these go on with. */
export function byFile(arrays: readonly ArrayName[]): {
  readonly "optimizer.safetensors": readonly ArrayName[];
  readonly "devices.safetensors": readonly ArrayName[];
} {
  return {
    "optimizer.safetensors": arrays.filter(({ model }) => ownerOf(model) === null),
    "devices.safetensors": arrays.filter(({ model }) => ownerOf(model) !== null),
  };
}

export function arrayOf({ parameters, state }: ModelArrays, index: number | null): Float32Array {
  const array = index === null ? parameters : state[index];
  if (array === undefined) throw new RangeError(`the model has no state array ${index}`);
  return array;
}
