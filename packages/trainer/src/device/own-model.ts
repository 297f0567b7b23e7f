import type { DeviceArray, Kernels } from "@heterosgd/model";
import type { ModelMemory } from "./api.js";

/**
 * A model that a device holds: its arrays for the kernels, and the memory that others see. Where the
 * kernels share no memory these are two, and `load` and `store` copy from one to the other.
 */
export interface OwnModel {
  readonly parameters: DeviceArray;
  readonly state: readonly DeviceArray[];
  readonly memory: ModelMemory;
}

type AnyKernels = Kernels<DeviceArray, unknown>;

export interface OwnModelOptions {
  /** Elements of each array. */
  readonly length: number;
  /** Number of optimiser state arrays. */
  readonly states: number;
  /** Memory that others see, which a lost device held; undefined: it is taken anew. */
  readonly spare: ModelMemory | undefined;
  /** Takes zeroed elements where all devices can work on them. */
  readonly allocate: (length: number) => Float32Array;
}

export function takeModel(kernels: AnyKernels, options: OwnModelOptions): OwnModel {
  const { length, states, spare, allocate } = options;
  if (spare !== undefined) zero(spare);
  if (kernels.sharesMemory) {
    const memory = spare ?? freshMemory(options, (size) => kernels.allocate(size) as Float32Array);
    return { parameters: memory.parameters, state: memory.state, memory };
  }
  return {
    parameters: kernels.allocate(length),
    state: Array.from({ length: states }, () => kernels.allocate(length)),
    memory: spare ?? freshMemory(options, allocate),
  };
}

function freshMemory(
  { length, states }: OwnModelOptions,
  allocate: OwnModelOptions["allocate"],
): ModelMemory {
  return {
    parameters: allocate(length),
    state: Array.from({ length: states }, () => allocate(length)),
    updates: new Int32Array(new SharedArrayBuffer(4)),
  };
}

function zero({ parameters, state, updates }: ModelMemory): void {
  for (const array of [parameters, ...state]) array.fill(0);
  updates[0] = 0;
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
