import { contextMemory, enterContext, leaveContext, retainContext } from "./cuda/context.js";
import { requireCudaDevice } from "./cuda/devices.js";
import { createStatusCheck } from "./cuda/failures.js";
import type { GpuDevice } from "./driver.js";
import { requireOpenClDevice } from "./opencl/devices.js";

/** Of a device's memory, in bytes. */
export interface GpuMemory {
  readonly total: number;
  /** What nobody has taken, this process and others; null where the driver does not tell. */
  readonly free: number | null;
}

/**
 * How much memory a device has, and has left just now. CUDA's driver tells that to whoever has a context, so that
 * one is made, unless this process has one, and given back; OpenCL only tells what there is in all.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_MEMORY (not even for a context), GPU_LOST, GPU_DRIVER
 */
export function gpuMemory({
  technology,
  index,
  library,
}: Pick<GpuDevice, "technology" | "index"> & { readonly library?: string }): GpuMemory {
  if (technology === "opencl") {
    const { device } = requireOpenClDevice(index, library);
    return { total: device.info.memory, free: null };
  }
  const { cuda, device } = requireCudaDevice(index, library);
  const check = createStatusCheck(cuda, device.info.name, () => undefined);
  const context = retainContext(cuda, device.ordinal, check);
  try {
    enterContext(cuda, context, check);
    return contextMemory(cuda, check);
  } finally {
    leaveContext();
    cuda.releaseContext(device.ordinal);
  }
}
