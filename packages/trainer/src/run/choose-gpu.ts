/** Which of the GPUs that the drivers offer a device is. */
import { existsSync } from "node:fs";
import {
  cudaSupport,
  openclSupport,
  type GpuDevice,
  type GpuSupport,
} from "@heterosgd/gpu-kernels";
import type { GpuKernelsDescription } from "../device/device-kernels.js";
import {
  formatDevice,
  type DeviceSpec,
  type GpuChoice,
  type GpuTechnology,
} from "../device/device-spec.js";
import { TrainerError } from "../errors.js";

export type GpuSpec = DeviceSpec & { readonly kind: GpuTechnology };

export function isGpuSpec(spec: DeviceSpec): spec is GpuSpec {
  return spec.kind === "cuda" || spec.kind === "opencl";
}

/** What a technology's driver offers here, or why it can't be used. Never throws. */
export const gpuSupport: Readonly<Record<GpuTechnology, () => GpuSupport>> = {
  cuda: () => cudaSupport(),
  opencl: () => openclSupport(),
};

const technologies: Readonly<Record<GpuTechnology, string>> = { cuda: "CUDA", opencl: "OpenCL" };

/** The device that is meant. @throws TrainerError KERNELS_UNAVAILABLE */
export function findGpu(spec: GpuSpec): GpuDevice {
  const support = gpuSupport[spec.kind]();
  const asked = `"${formatDevice(spec)}" can't be had`;
  if (!support.available) {
    throw unavailable(`${asked}: ${support.reason}; ${support.remedy}`);
  }
  const { devices } = support;
  const found = pick(devices, spec.which);
  if (found !== undefined) return found;
  const there = devices.map(
    ({ index, kind, name }) => `${spec.kind}:${index} is ${name} (${kind})`,
  );
  throw unavailable(
    `${asked}: ${technologies[spec.kind]} has ${devices.length === 1 ? "one device" : `${devices.length} devices`} here; name one of them: ${there.join(", ")}`,
  );
}

function pick(devices: readonly GpuDevice[], which?: GpuChoice): GpuDevice | undefined {
  if (which === undefined) return devices.find(({ kind }) => kind === "gpu") ?? devices[0];
  return devices.find(({ index, kind }) => which === index || which === kind);
}

/** @throws TrainerError KERNELS_UNAVAILABLE */
export function chooseGpu(spec: GpuSpec): GpuKernelsDescription {
  const { technology, index, name } = findGpu(spec);
  return { name: technology, index, device: name };
}

function unavailable(message: string): TrainerError {
  return new TrainerError("KERNELS_UNAVAILABLE", message);
}

/**
 * GPUs that can be used here, each once: of those that both technologies offer, CUDA's. Processors that
 * OpenCL drives are none.
 *
 * Asking the drivers takes up to a second and some memory, which a machine that shows no trace of a GPU is
 * spared.
 */
export function hardwareGpus(): readonly GpuDevice[] {
  if (!mayHaveGpus()) return [];
  const offered = (technology: GpuTechnology) => {
    const support = gpuSupport[technology]();
    return support.available ? support.devices.filter(({ kind }) => kind === "gpu") : [];
  };
  const cuda = offered("cuda");
  const names = cuda.map(({ name }) => name);
  return [...cuda, ...offered("opencl").filter(({ name }) => !names.includes(name))];
}

/** What Linux has for the GPUs of NVIDIA, of others, and of a Windows around it. */
const deviceFiles = ["/dev/nvidiactl", "/dev/dri", "/dev/kfd", "/dev/dxg"];

/** Whether the machine shows any trace of a GPU. */
export function mayHaveGpus(): boolean {
  const { HETEROSGD_CUDA_LIBRARY: cuda, HETEROSGD_OPENCL_LIBRARY: opencl } = process.env;
  return (
    process.platform !== "linux" ||
    !!cuda ||
    !!opencl ||
    deviceFiles.some((path) => existsSync(path))
  );
}
