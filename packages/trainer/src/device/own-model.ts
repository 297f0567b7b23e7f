import type { DeviceArray, Kernels } from "@heterosgd/model";
import type { ModelMemory } from "./api.js";

/** A model that a device holds: its arrays for the kernels, and the memory that others see. */
export interface OwnModel {
  readonly parameters: DeviceArray;
  readonly state: readonly DeviceArray[];
  readonly memory: ModelMemory;
}

type AnyKernels = Kernels<DeviceArray, unknown>;

/** @param states - number of optimiser state arrays. */
export function takeModel(kernels: AnyKernels, length: number, states: number): OwnModel {
  const parameters = kernels.allocate(length);
  const state = Array.from({ length: states }, () => kernels.allocate(length));
  return {
    parameters,
    state,
    memory: {
      parameters: sharedView(parameters),
      state: state.map(sharedView),
      updates: new Int32Array(new SharedArrayBuffer(4)),
    },
  };
}

/** The same in memory that a lost device held, whatever it holds now. */
export function reuseModel({ parameters, state, updates }: ModelMemory): OwnModel {
  for (const array of [parameters, ...state]) array.fill(0);
  updates[0] = 0;
  return { parameters, state, memory: { parameters, state, updates } };
}

/** The array itself where it lies in shared memory, else room in shared memory for a copy of it. */
function sharedView(array: DeviceArray): Float32Array {
  return array instanceof Float32Array
    ? array
    : new Float32Array(new SharedArrayBuffer(array.length * 4));
}

/** Copies shared memory into the device's own arrays. */
export function load(kernels: AnyKernels, source: ModelMemory, target: OwnModel): void {
  kernels.write(source.parameters, target.parameters);
  target.state.forEach((array, i) => kernels.write(source.state[i]!, array));
}

/** Copies a model from the device's own arrays into its shared memory, where that is another. */
export async function store(kernels: AnyKernels, model: OwnModel): Promise<void> {
  if (kernels.sharesMemory) return;
  await kernels.read(model.parameters, model.memory.parameters);
  for (const [i, array] of model.state.entries()) {
    await kernels.read(array, model.memory.state[i]!);
  }
}
