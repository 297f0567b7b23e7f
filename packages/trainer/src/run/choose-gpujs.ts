/** What gpu.js runs on where a device is one of its. */
import { gpujsSupport, type GpujsSupport } from "@heterosgd/gpu-kernels";
import type { GpujsKernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";

type GpujsSpec = DeviceSpec & { readonly kind: "gpujs" };

export function isGpujsSpec(spec: DeviceSpec): spec is GpujsSpec {
  return spec.kind === "gpujs";
}

/**
 * The same options with what gpu.js offers here, if one of the devices is to run on it: it is looked for in
 * a process of its own, which takes a second.
 */
export async function withGpujs<T extends { readonly gpujs?: GpujsSupport | undefined }>(
  options: T,
  devices: readonly DeviceSpec[],
): Promise<T> {
  if (options.gpujs !== undefined || !devices.some(isGpujsSpec)) return options;
  return { ...options, gpujs: await gpujsSupport() };
}

/**
 * The mode that is asked for, and no other.
 *
 * @throws TrainerError KERNELS_UNAVAILABLE; TypeError if `support` is left out.
 */
export function chooseGpujs(spec: GpujsSpec, support?: GpujsSupport): GpujsKernelsDescription {
  if (support === undefined) {
    throw new TypeError("a device runs on gpu.js: pass what gpujsSupport() resolves to as `gpujs`");
  }
  const { mode = "headlessgl", isolation = "thread" } = spec;
  const found = support.devices.find((device) => device.mode === mode);
  if (found !== undefined) return { name: "gpujs", mode, isolation, device: found.name };
  const lack = support.lacking.find((one) => one.mode === mode);
  const why = lack === undefined ? "gpu.js does not have it" : `${lack.reason}; ${lack.remedy}`;
  const others = support.devices.map((device) => `gpujs:${device.mode} (${device.name})`);
  const instead = others.length === 0 ? "" : `, or name what there is: ${others.join(" or ")}`;
  throw new TrainerError(
    "KERNELS_UNAVAILABLE",
    `"${formatDevice(spec)}" can't be had: ${why}${instead}`,
  );
}
