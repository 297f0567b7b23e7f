/** Which devices CUDA's driver offers. */
import type { GpuDevice, GpuSupport } from "../driver.js";
import { GpuKernelsError } from "../errors.js";
import { messageOf, type Lack } from "../lack.js";
import { errorName } from "./failures.js";
import { driverRemedy, loadCuda, type CudaFunctions, type Status } from "./library.js";
import { neededCapability, neededDriver } from "./ptx.js";

/** A device, and what it is opened by. */
export interface CudaDevice {
  readonly info: GpuDevice;
  readonly ordinal: number;
  /** 10 · major + minor of its compute capability. */
  readonly capability: number;
}

type FoundDevices =
  | { readonly ok: true; readonly cuda: CudaFunctions; readonly devices: readonly CudaDevice[] }
  | Lack;

const NO_DEVICE = 100;
const capabilityAttributes = { major: 75, minor: 76 } as const;

const newerGpu = `use a GPU of compute capability ${versionOf(neededCapability)} (Turing) or newer`;

/**
 * The devices that CUDA offers here. Never throws.
 *
 * @param options.library - the library that has the driver's functions, instead of the system's.
 */
export function cudaSupport({ library }: { readonly library?: string } = {}): GpuSupport {
  const found = findCudaDevices(library);
  if (!found.ok) return { available: false, reason: found.reason, remedy: found.remedy };
  return { available: true, devices: found.devices.map(({ info }) => info) };
}

function findCudaDevices(library?: string): FoundDevices {
  const loaded = loadCuda(library);
  if (!loaded.ok) return loaded;
  try {
    return devicesOf(loaded.functions);
  } catch (error) {
    return { ok: false, reason: `CUDA fails: ${messageOf(error)}`, remedy: driverRemedy };
  }
}

/**
 * The device of that index, and the functions of its driver.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE
 */
export function requireCudaDevice(
  index: number,
  library?: string,
): { readonly cuda: CudaFunctions; readonly device: CudaDevice } {
  const found = findCudaDevices(library);
  if (!found.ok) throw noDevice(found);
  const { cuda, devices } = found;
  const device = devices[index];
  if (device !== undefined) return { cuda, device };
  throw new GpuKernelsError(
    "GPU_UNAVAILABLE",
    `There is no CUDA device ${index}; ${devices.length} are found, from 0 on: ` +
      `${devices.map(({ info }) => info.name).join(", ")}.`,
  );
}

export function noDevice({ reason, remedy }: Lack): GpuKernelsError {
  return new GpuKernelsError("GPU_UNAVAILABLE", `No CUDA device: ${reason}; ${remedy}.`);
}

function devicesOf(cuda: CudaFunctions): FoundDevices {
  const check = (call: string, status: Status) => {
    if (status !== 0) throw new Error(`${call} returns ${errorName(cuda, status)}`);
  };
  const value = new Int32Array(1);

  const initialised = cuda.init(0);
  if (initialised === NO_DEVICE) return noGpu;
  check("cuInit", initialised);
  check("cuDriverGetVersion", cuda.driverVersion(value));
  if (value[0]! < neededDriver) {
    return {
      ok: false,
      reason: `the driver is CUDA ${cudaVersion(value[0]!)}'s, the kernels need ${cudaVersion(neededDriver)}'s or a newer one`,
      remedy: "install a newer driver of NVIDIA's",
    };
  }
  check("cuDeviceGetCount", cuda.deviceCount(value));
  const count = value[0]!;
  if (count === 0) return noGpu;

  const devices: CudaDevice[] = [];
  const unfit: string[] = [];
  for (let ordinal = 0; ordinal < count; ordinal++) {
    const { name, memory, capability } = describe(cuda, ordinal, check);
    if (capability < neededCapability) {
      unfit.push(`${name} has compute capability ${versionOf(capability)}`);
      continue;
    }
    const index = devices.length;
    devices.push({
      ordinal,
      capability,
      info: { technology: "cuda", index, name, kind: "gpu", memory },
    });
  }
  if (devices.length > 0) return { ok: true, cuda, devices };
  const reason = `${unfit.join("; ")}; the kernels need ${versionOf(neededCapability)} or newer`;
  return { ok: false, reason, remedy: newerGpu };
}

const noGpu: Lack = {
  ok: false,
  reason: "CUDA's driver finds no GPU (CUDA_ERROR_NO_DEVICE)",
  remedy:
    "see what `nvidia-smi` says: the card, the driver's kernel module, or a container's access to it may be missing; " +
    "CUDA_VISIBLE_DEVICES may hide it",
};

function describe(
  cuda: CudaFunctions,
  ordinal: number,
  check: (call: string, status: Status) => void,
) {
  const value = new Int32Array(1);
  check("cuDeviceGet", cuda.device(value, ordinal));
  const device = value[0]!;
  const name = new Uint8Array(256);
  check("cuDeviceGetName", cuda.deviceName(name, name.length, device));
  const bytes = new BigUint64Array(1);
  check("cuDeviceTotalMem_v2", cuda.deviceMemory(bytes, device));
  const attribute = (which: number) => {
    check("cuDeviceGetAttribute", cuda.deviceAttribute(value, which, device));
    return value[0]!;
  };
  const { major, minor } = capabilityAttributes;
  return {
    name: new TextDecoder().decode(name.subarray(0, name.indexOf(0))),
    memory: Number(bytes[0]!),
    capability: 10 * attribute(major) + attribute(minor),
  };
}

function versionOf(capability: number): string {
  return `${Math.trunc(capability / 10)}.${capability % 10}`;
}

/** 10020 is 10.2. */
function cudaVersion(version: number): string {
  return `${Math.trunc(version / 1000)}.${Math.trunc((version % 1000) / 10)}`;
}
