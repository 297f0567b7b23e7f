import type { Batch, Kernels, ParameterLayout, UpdateRule } from "@heterosgd/model";
import { CpuKernelsError } from "../errors.js";

/** The instruction sets that the addon is compiled for, fastest first. */
export const instructionSets = ["avx512", "avx2", "portable"] as const;
export type InstructionSet = (typeof instructionSets)[number];

export interface NativeKernelsOptions {
  /** Threads that share the work of every operation, the calling one among them. Default 1. */
  readonly threads?: number;
  /** Default: the fastest that the processor has. */
  readonly isa?: InstructionSet;
  /**
   * Multiplies the output layer's products in bfloat16 with float32 sums. Parameters stay float32.
   * Default false.
   */
  readonly bf16?: boolean;
  /**
   * Bytes for exponentials that the softmax may keep between its passes. Blocks of classes beyond
   * it have their logits computed twice. Default 1 GiB.
   */
  readonly keptBytes?: number;
}

/** Whether the addon can be used here, and what the processor offers. */
export type NativeSupport =
  | {
      readonly available: true;
      /** Those that this processor has, fastest first. */
      readonly isas: readonly InstructionSet[];
      /** Whether products in bfloat16 can be had. */
      readonly bf16: boolean;
    }
  | { readonly available: false; readonly reason: string };

export function nativeSupport(): NativeSupport {
  return { available: false, reason: "they are not built yet" };
}

/** The Kernels contract in C++. @throws CpuKernelsError NATIVE_UNAVAILABLE and others. */
export function createNativeKernels(_options: NativeKernelsOptions = {}): Kernels<Float32Array, Batch> {
  throw new CpuKernelsError("NATIVE_UNAVAILABLE", "the native kernels are not built yet");
}

/** Zeroed float32 elements in shared memory, aligned to cache lines, on huge pages where granted. */
export function allocateOnHugePages(length: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(length * 4));
}

/** Bytes that such kernels come to keep for their own work. */
export function nativeKernelsBytes(
  _layout: ParameterLayout,
  _limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly maxLabels: number;
    readonly optimizer: UpdateRule | null;
    readonly options: NativeKernelsOptions;
  },
): number {
  return 0;
}
