/** Kernels by name, in the process that measures them. */
import { createNativeKernels, nativeSupport } from "@heterosgd/cpu-kernels";
import { createGpuKernels } from "@heterosgd/gpu-kernels";
import { createPlainKernels } from "@heterosgd/model";
import type { AnyKernels } from "./operations.js";

/** What a worker opens a device by. */
export interface DeviceRef {
  readonly technology: "cuda" | "opencl";
  readonly index: number;
}

export interface OpenedKernels {
  readonly kernels: AnyKernels;
  /** Bytes that they have taken on the device for their own work so far. */
  readonly workBytes: () => number;
}

export function openDeviceKernels({ technology, index }: DeviceRef): OpenedKernels {
  const kernels = createGpuKernels({ technology, index });
  return { kernels, workBytes: () => kernels.workBytes() };
}

/** Kernels of the processor that the device's are compared with. */
export interface Reference {
  readonly name: "plain" | "native";
  readonly create: () => AnyKernels;
  /** About as many floating-point operations a second, in 10⁹, on one core. */
  readonly gigaflops: number;
}

/** The plain TypeScript ones, and the native ones on one thread where there are any. */
export function references(): readonly Reference[] {
  const plain: Reference = { name: "plain", create: () => createPlainKernels(), gigaflops: 4 };
  const native: Reference = { name: "native", create: () => createNativeKernels(), gigaflops: 50 };
  return nativeSupport().available ? [plain, native] : [plain];
}
