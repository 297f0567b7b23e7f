export { GpuKernelsError, type GpuKernelsErrorCode } from "./errors.js";
export type { GpuDevice, GpuSupport } from "./driver.js";
