/** What a device can run on, by name: made where it is used, described for everybody else. */
import {
  createNativeKernels,
  createWasmKernels,
  nativeKernelsBytes,
  wasmKernelsBytes,
  type InstructionSet,
} from "@heterosgd/cpu-kernels";
import {
  createGpuKernels,
  gpujsKernelsBytes,
  gpuKernelsBytes,
  gpuKernelsHostBytes,
  type GpujsNodeMode,
} from "@heterosgd/gpu-kernels";
import {
  createPlainKernels,
  plainKernelsBytes,
  type DeviceArray,
  type Kernels,
  type ParameterLayout,
  type UpdateRule,
} from "@heterosgd/model";
import type { BatchLimits, DeviceSetup } from "./api.js";
import type { GpuTechnology } from "./device-spec.js";
import { openGpujs } from "./open-gpujs.js";

/** What runs on a device: enough to run the same again, elsewhere and later. */
export type KernelsDescription =
  | CpuKernelsDescription
  | GpuKernelsDescription
  | GpujsKernelsDescription;

export interface CpuKernelsDescription {
  readonly name: "native" | "wasm" | "plain";
  /** Instruction set of native kernels, null of others. */
  readonly isa: InstructionSet | null;
  readonly threads: number;
  /** Whether the output layer's products are taken in bfloat16. */
  readonly bf16: boolean;
}

/** Of kernels with memory of their own. */
interface BesideProcessor {
  /**
   * What merges models in the process's memory, which those kernels don't reach. Old recordings don't say: it was
   * plain kernels.
   */
  readonly host?: CpuKernelsDescription;
}

export interface GpuKernelsDescription extends BesideProcessor {
  readonly name: GpuTechnology;
  /** Among the technology's devices. */
  readonly index: number;
  /** As its driver names it. */
  readonly device: string;
}

export interface GpujsKernelsDescription extends BesideProcessor {
  readonly name: "gpujs";
  /** What gpu.js computes on. */
  readonly mode: GpujsNodeMode;
  /** Whether in the device's thread, or in a process of its own. */
  readonly isolation: "thread" | "process";
  /** The renderer as its driver names it, or what computes in its place. */
  readonly device: string;
}

/** Old recordings don't say what ran: it was these. */
export const plainKernels: CpuKernelsDescription = {
  name: "plain",
  isa: null,
  threads: 1,
  bf16: false,
};

interface SharedMemory {
  /** Where all models lie, if any device's kernels are in WebAssembly; else null. */
  readonly memory: WebAssembly.Memory | null;
}

export type CpuKernelsSetup = CpuKernelsDescription & SharedMemory;
export type KernelsSetup = KernelsDescription & SharedMemory;

/** Whether they have memory of their own, and are an accelerator. */
export function isGpu(
  kernels: KernelsDescription,
): kernels is GpuKernelsDescription | GpujsKernelsDescription {
  return kernels.name === "cuda" || kernels.name === "opencl" || kernels.name === "gpujs";
}

/** What works on models in the process's memory there. */
export function hostOf(kernels: KernelsDescription): CpuKernelsDescription {
  return isGpu(kernels) ? (kernels.host ?? plainKernels) : kernels;
}

/** Makes what works on models in the process's memory. @throws CpuKernelsError */
export function createHostKernels(setup: KernelsSetup): Kernels {
  return createDeviceKernels({ ...hostOf(setup), memory: setup.memory });
}

type AnyKernels = Kernels<DeviceArray, unknown>;

/**
 * Makes the kernels in the thread that uses them.
 *
 * @param network - what they are to train, where that is known: they are then ready for its first step.
 * @throws CpuKernelsError, GpuKernelsError
 */
export function createDeviceKernels(setup: CpuKernelsSetup): Kernels;
export function createDeviceKernels(
  setup: KernelsSetup,
  network?: Pick<DeviceSetup, "shape" | "limits" | "rule">,
): AnyKernels | Promise<AnyKernels>;
export function createDeviceKernels(
  setup: KernelsSetup,
  network?: Pick<DeviceSetup, "shape" | "limits" | "rule">,
): Kernels | AnyKernels | Promise<AnyKernels> {
  switch (setup.name) {
    case "native": {
      const { isa, threads, bf16 } = setup;
      return createNativeKernels({ threads, bf16, ...(isa === null ? {} : { isa }) });
    }
    case "wasm":
      return createWasmKernels(setup.memory === null ? {} : { memory: setup.memory });
    case "plain":
      return createPlainKernels();
    case "cuda":
    case "opencl":
      return createGpuKernels({ technology: setup.name, index: setup.index });
    case "gpujs":
      return openGpujs(setup, network);
  }
}

/**
 * Bytes that such kernels take for their own work, beside models and activations: of the device's own
 * memory where it has some.
 */
export function deviceKernelsBytes(
  kernels: KernelsDescription,
  layout: ParameterLayout,
  limits: BatchLimits,
  optimizer: UpdateRule | null,
): number {
  const common = { maxRows: limits.rows, maxNonZeros: limits.nonZeros, optimizer };
  const withLabels = { ...common, maxLabels: limits.labels };
  switch (kernels.name) {
    case "native": {
      const { isa, threads, bf16 } = kernels;
      const options = { threads, bf16, ...(isa === null ? {} : { isa }) };
      return nativeKernelsBytes(layout, { ...withLabels, options });
    }
    case "wasm":
      return wasmKernelsBytes(layout, { ...withLabels, options: {} });
    case "plain":
      return plainKernelsBytes(layout, common);
    case "cuda":
    case "opencl":
      return gpuKernelsBytes(layout, { ...withLabels, technology: kernels.name });
    case "gpujs":
      return gpujsKernelsBytes(layout, withLabels);
  }
}

/** Bytes of the process's memory that kernels with memory of their own take for their work. */
export function ownMemoryHostBytes(kernels: KernelsDescription, limits: BatchLimits): number {
  if (kernels.name !== "cuda" && kernels.name !== "opencl") return 0;
  const { rows, nonZeros, labels } = limits;
  return gpuKernelsHostBytes({ maxRows: rows, maxNonZeros: nonZeros, maxLabels: labels });
}
