import type { Batch, Kernels, ParameterLayout, UpdateRule } from "@heterosgd/model";
import { CpuKernelsError } from "../errors.js";

export interface WasmKernelsOptions {
  /**
   * The memory that all arrays lie in; several threads' kernels may share one (made by
   * `createWasmMemory`). Default: one of their own.
   */
  readonly memory?: WebAssembly.Memory;
  /** Bytes for exponentials kept between the softmax's passes. Default 256 MiB. */
  readonly keptBytes?: number;
}

/** Shared memory that grows as arrays are taken from it, up to 4 GiB. */
export function createWasmMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
}

/** Takes zeroed, aligned float32 elements from a memory that kernels share. */
export function allocateInWasmMemory(_memory: WebAssembly.Memory, _length: number): Float32Array {
  throw new CpuKernelsError("KERNEL_MEMORY", "not built yet");
}

/** The Kernels contract in WebAssembly SIMD. */
export function createWasmKernels(_options: WasmKernelsOptions = {}): Kernels<Float32Array, Batch> {
  throw new CpuKernelsError("KERNEL_ARGUMENT", "not built yet");
}

/** Bytes that such kernels come to keep for their own work. */
export function wasmKernelsBytes(
  _layout: ParameterLayout,
  _limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly maxLabels: number;
    readonly optimizer: UpdateRule | null;
    readonly options: WasmKernelsOptions;
  },
): number {
  return 0;
}
