export { createGpujsKernels, type GpujsKernelsOptions } from "./gpujs/gpujs-kernels.js";
export { gpujsKernelsBytes } from "./gpujs/memory.js";
export { GpuKernelsError, type GpuKernelsErrorCode } from "./errors.js";
export type { GpuClass } from "./gpujs/gpu-class.js";
export type { GpujsArray, GpujsBatch, GpujsKernels, GpujsLimits, GpujsMode } from "./gpujs/api.js";
