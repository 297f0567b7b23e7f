/** What a device can run on, by name: made where it is used, described for everybody else. */
import {
  createNativeKernels,
  createWasmKernels,
  nativeKernelsBytes,
  wasmKernelsBytes,
  type InstructionSet,
} from "@heterosgd/cpu-kernels";
import {
  createPlainKernels,
  plainKernelsBytes,
  type Kernels,
  type ParameterLayout,
  type UpdateRule,
} from "@heterosgd/model";
import type { BatchLimits } from "./api.js";

/** What runs on a device: enough to run the same again, elsewhere and later. */
export interface KernelsDescription {
  readonly name: "native" | "wasm" | "plain";
  /** Instruction set of native kernels, null of others. */
  readonly isa: InstructionSet | null;
  readonly threads: number;
  /** Whether the output layer's products are taken in bfloat16. */
  readonly bf16: boolean;
}

/** Old recordings don't say what ran: it was these. */
export const plainKernels: KernelsDescription = {
  name: "plain",
  isa: null,
  threads: 1,
  bf16: false,
};

export interface KernelsSetup extends KernelsDescription {
  /** Where all models lie, if any device's kernels are in WebAssembly; else null. */
  readonly memory: WebAssembly.Memory | null;
}

/**
 * Makes the kernels in the thread that uses them.
 *
 * @throws CpuKernelsError
 */
export function createDeviceKernels({ name, isa, threads, bf16, memory }: KernelsSetup): Kernels {
  switch (name) {
    case "native":
      return createNativeKernels({ threads, bf16, ...(isa === null ? {} : { isa }) });
    case "wasm":
      return createWasmKernels(memory === null ? {} : { memory });
    case "plain":
      return createPlainKernels();
  }
}

/** Bytes that such kernels take for their own work, beside models and activations. */
export function deviceKernelsBytes(
  { name, isa, threads, bf16 }: KernelsDescription,
  layout: ParameterLayout,
  limits: BatchLimits,
  optimizer: UpdateRule | null,
): number {
  const common = { maxRows: limits.rows, maxNonZeros: limits.nonZeros, optimizer };
  switch (name) {
    case "native": {
      const options = { threads, bf16, ...(isa === null ? {} : { isa }) };
      return nativeKernelsBytes(layout, { ...common, maxLabels: limits.labels, options });
    }
    case "wasm":
      return wasmKernelsBytes(layout, { ...common, maxLabels: limits.labels, options: {} });
    case "plain":
      return plainKernelsBytes(layout, common);
  }
}
