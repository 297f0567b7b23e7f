import { openGpujsKernels, type GpujsKernels } from "@heterosgd/gpu-kernels";
import { parameterLayout } from "@heterosgd/model";
import type { DeviceSetup } from "./api.js";
import type { GpujsKernelsDescription } from "./device-kernels.js";

/**
 * Opens gpu.js in this thread, or in a process of its own.
 *
 * @param network - what it is to train: its kernels are compiled here then, not in the first step.
 * @throws GpuKernelsError
 */
export async function openGpujs(
  { mode, isolation }: GpujsKernelsDescription,
  network?: Pick<DeviceSetup, "shape" | "limits" | "rule">,
): Promise<GpujsKernels> {
  const kernels = await openGpujsKernels({ mode, isolation });
  if (network === undefined) return kernels;
  try {
    const { shape, limits, rule } = network;
    await kernels.warm(parameterLayout(shape), { maxRows: limits.rows, optimizer: rule });
  } catch (error) {
    await kernels.dispose();
    throw error;
  }
  return kernels;
}
