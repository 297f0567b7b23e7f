import type { GpuDevice, GpuSpec } from "@heterosgd/trainer";
import { describeError } from "./errors.js";
import { measureDevices } from "./measure-devices.js";

/** Seconds of training by which one is measured, after it was opened. */
const SECONDS = 0.5;

/** A device that a GPU driver offers, and how fast it is, or why it can't be used. */
export interface MeasuredGpu extends GpuDevice {
  readonly rowsPerSecond: number | null;
  readonly reason: string | null;
}

export function gpuSpec({ technology, index }: GpuDevice): GpuSpec {
  return { kind: technology, which: index, threads: 1, speed: 1, role: "accelerator" };
}

/** Measures them one after another. */
export async function measureGpus(devices: readonly GpuDevice[]): Promise<readonly MeasuredGpu[]> {
  const measured: MeasuredGpu[] = [];
  for (const device of devices) measured.push({ ...device, ...(await measureGpu(device)) });
  return measured;
}

async function measureGpu(
  device: GpuDevice,
): Promise<Pick<MeasuredGpu, "rowsPerSecond" | "reason">> {
  try {
    const [{ rowsPerSecond } = { rowsPerSecond: 0 }] = await measureDevices(
      [gpuSpec(device)],
      SECONDS,
    );
    return { rowsPerSecond, reason: null };
  } catch (error) {
    return { rowsPerSecond: null, reason: describeError(error) };
  }
}
