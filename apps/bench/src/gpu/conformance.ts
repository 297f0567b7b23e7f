import { kernelsConformance } from "@heterosgd/model/conformance";
import { openDeviceKernels, type DeviceRef } from "./open-kernels.js";

export interface Conformance {
  readonly cases: number;
  /** Names of cases that fail, and why. */
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  readonly seconds: number;
}

/** The suite that all kernels have to pass, on one device. */
export async function conformance({
  device,
}: {
  readonly device: DeviceRef;
}): Promise<Conformance> {
  const cases = kernelsConformance(() => openDeviceKernels(device).kernels, { seed: 1 });
  const failures: { name: string; message: string }[] = [];
  const began = performance.now();
  for (const { name, run } of cases) {
    try {
      await run();
    } catch (error) {
      failures.push({ name, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { cases: cases.length, failures, seconds: (performance.now() - began) / 1000 };
}
