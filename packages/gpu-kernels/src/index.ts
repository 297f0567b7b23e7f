export { cudaSupport } from "./cuda/devices.js";
export type { GpuDevice, GpuSupport } from "./driver.js";
export { GpuKernelsError, type GpuKernelsErrorCode } from "./errors.js";
export { createGpuKernels, type GpuKernelsOptions } from "./gpu-kernels.js";
export { gpuMemory, type GpuMemory } from "./gpu-memory.js";
export { gpuKernelsBytes, gpuKernelsHostBytes } from "./memory.js";
export type { GpuArray } from "./kernels/arrays.js";
export type { GpuBatch } from "./kernels/batch-slot.js";
export type { GpuKernels } from "./kernels/kernels.js";
export { openclSupport } from "./opencl/devices.js";
export { gpujsKernelsBytes } from "./gpujs/memory.js";
export { openGpujsKernels } from "./gpujs/node/open-kernels.js";
export { gpujsSupport } from "./gpujs/node/support.js";
export type {
  GpujsArray,
  GpujsBatch,
  GpujsDevice,
  GpujsDeviceUse,
  GpujsKernels,
  GpujsLack,
  GpujsLimits,
  GpujsMode,
  GpujsNodeMode,
  GpujsSupport,
  OpenGpujsOptions,
} from "./gpujs/api.js";
