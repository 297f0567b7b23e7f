import {
  allocateInWasmMemory,
  allocateOnHugePages,
  createWasmMemory,
} from "@heterosgd/cpu-kernels";
import { optimizerStateArrays, type UpdateRule } from "@heterosgd/model";
import type { ModelMemory } from "./api.js";
import { hostOf, type KernelsDescription, type KernelsSetup } from "./device-kernels.js";

/** Memory for models that belong to no device, such as every device's kernels can work on. */
export interface KernelMemory {
  /** What the devices must be told. */
  readonly wasm: WebAssembly.Memory | null;
  /** Zeroed elements in shared memory. @throws CpuKernelsError KERNEL_MEMORY */
  allocate(length: number): Float32Array;
}

/**
 * Memory for a run on such kernels. Those in WebAssembly reach one memory only, in which all
 * devices' models and work buffers then lie; what native kernels work on should lie on huge pages.
 */
export function createKernelMemory(kernels: readonly KernelsDescription[]): KernelMemory {
  const hosts = kernels.map(hostOf);
  if (hosts.some(({ name }) => name === "wasm")) {
    const memory = createWasmMemory();
    return { wasm: memory, allocate: (length) => allocateInWasmMemory(memory, length) };
  }
  if (hosts.some(({ name }) => name === "native")) {
    return { wasm: null, allocate: allocateOnHugePages };
  }
  return {
    wasm: null,
    allocate: (length) => new Float32Array(new SharedArrayBuffer(length * 4)),
  };
}

/** What a device must know to make its kernels over this memory, and to share models through it. */
export function kernelsSetup<Description extends KernelsDescription>(
  kernels: Description,
  { wasm }: KernelMemory,
): Description & Pick<KernelsSetup, "memory"> {
  return { ...kernels, memory: wasm };
}

/** Takes zeroed elements for what others see of a model that a device has in memory of its own. */
export function allocateMirror(
  { memory }: Pick<KernelsSetup, "memory">,
  length: number,
): Float32Array {
  return memory === null
    ? new Float32Array(new SharedArrayBuffer(length * 4))
    : allocateInWasmMemory(memory, length);
}

/** Zeroed memory for a model that belongs to no device. */
export function takeSharedModel(
  memory: KernelMemory,
  length: number,
  rule: UpdateRule | null,
): ModelMemory {
  return {
    parameters: memory.allocate(length),
    state: Array.from({ length: optimizerStateArrays(rule) }, () => memory.allocate(length)),
    updates: new Int32Array(new SharedArrayBuffer(4)),
  };
}
