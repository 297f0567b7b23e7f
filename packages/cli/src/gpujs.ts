import { gpujsSupport, parseDevices, type GpujsSupport } from "@heterosgd/trainer";

/** What gpu.js offers here. Never rejects. */
export const findGpujs = gpujsSupport;

/**
 * The same, if the list names a device that runs on it.
 *
 * @throws TrainerError DEVICE_SPEC
 */
export async function gpujsFor(devices: string): Promise<GpujsSupport | undefined> {
  if (devices === "auto" || !parseDevices(devices).some(({ kind }) => kind === "gpujs")) {
    return undefined;
  }
  return findGpujs();
}
