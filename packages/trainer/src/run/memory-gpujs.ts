/** What a device of gpu.js takes of the machine's memory. */
import type { GpujsKernelsDescription } from "../device/device-kernels.js";

const MEBIBYTE = 2 ** 20;

/** Headless-gl with Mesa's software renderer and its compiler of shaders, measured on Debian 12. */
const DRIVER_BYTES = 110 * MEBIBYTE;

/** A process of its own with its interpreter and gpu.js, measured on Node 20, Linux. */
const PROCESS_BYTES = 110 * MEBIBYTE;

/**
 * Bytes of the machine's memory. Where WebGL keeps arrays, and whether that is a GPU's memory, it does not say:
 * they are counted.
 *
 * @param arrays - bytes of what it computes on.
 */
export function gpujsHostBytes(
  { mode, isolation }: GpujsKernelsDescription,
  arrays: number,
): number {
  return (
    arrays +
    (mode === "headlessgl" ? DRIVER_BYTES : 0) +
    (isolation === "process" ? PROCESS_BYTES : 0)
  );
}
