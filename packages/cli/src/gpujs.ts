import { gpujsSupport, parseDevices, type GpujsSupport } from "@heterosgd/trainer";

let looking: Promise<GpujsSupport> | undefined;

/** What gpu.js offers here, looked for once. Never rejects. */
export function findGpujs(): Promise<GpujsSupport> {
  return (looking ??= gpujsSupport());
}

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
