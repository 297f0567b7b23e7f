import type { DeviceSpec, GpuDevice, GpujsDevice, GpujsSupport } from "@heterosgd/trainer";
import { describeError } from "./errors.js";
import { measureDevices } from "./measure-devices.js";

/** Seconds of training by which one is measured, after it was opened. */
const SECONDS = 0.5;

/** A device that a GPU driver offers, or gpu.js. */
export type AnyGpu = GpuDevice | GpujsDevice;

/** How fast it is, or why it can't be used. */
export type MeasuredGpu = AnyGpu & {
  /** What ran, as the kernels name themselves: `cuda-cublas` where cuBLAS makes the products. */
  readonly kernels: string | null;
  readonly rowsPerSecond: number | null;
  readonly reason: string | null;
};

export function gpuSpec(device: AnyGpu): DeviceSpec {
  const accelerator = { threads: 1, speed: 1, role: "accelerator" } as const;
  return device.technology === "gpujs"
    ? { ...accelerator, kind: "gpujs", mode: device.mode }
    : { ...accelerator, kind: device.technology, which: device.index };
}

/**
 * Measures them one after another.
 *
 * @param gpujs - what it offers, where one of them is its.
 */
export async function measureGpus(
  devices: readonly AnyGpu[],
  gpujs?: GpujsSupport,
): Promise<readonly MeasuredGpu[]> {
  const measured: MeasuredGpu[] = [];
  for (const device of devices) {
    measured.push({ ...device, ...(await measureGpu(gpuSpec(device), gpujs)) });
  }
  return measured;
}

async function measureGpu(
  spec: DeviceSpec,
  gpujs: GpujsSupport | undefined,
): Promise<Pick<MeasuredGpu, "kernels" | "rowsPerSecond" | "reason">> {
  try {
    const [measured] = await measureDevices([spec], SECONDS, gpujs);
    const { kernels = null, rowsPerSecond = 0 } = measured ?? {};
    return { kernels, rowsPerSecond, reason: null };
  } catch (error) {
    return { kernels: null, rowsPerSecond: null, reason: describeError(error) };
  }
}
