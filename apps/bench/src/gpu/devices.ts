/** Which devices `bench gpu` measures, and what kind of driver stands behind each. */
import { cudaSupport, openclSupport, type GpuDevice } from "@heterosgd/gpu-kernels";
import { findGpu, formatDevice, isGpuSpec, parseDevices } from "@heterosgd/trainer";
import { openCudaDriver } from "./cuda-driver.js";
import { gpuAttributes, peaksOf, type Peaks } from "./peaks.js";

/** What runs the kernels: a real device, a driver on the processor, or the stand-in for CUDA's driver. */
export type DriverKind = "hardware" | "software driver" | "emulated";

export interface BenchDevice extends GpuDevice {
  /** As `--devices` takes it. */
  readonly spec: string;
  /** Tells it from the same device with other settings. */
  readonly label: string;
  /** Its settings, for processes that open it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly driver: DriverKind;
  /** As computed from clocks; null where nobody knows, as of software. */
  readonly peaks: Peaks | null;
}

export interface FoundDevices {
  readonly devices: readonly BenchDevice[];
  /** Why a technology has none. */
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The devices that are named, else all of hardware, else all that the drivers offer.
 *
 * @throws TrainerError for a list that can't be read or a device that is not there
 */
export function findDevices(list: string | undefined): FoundDevices {
  const kinds = driverKinds();
  if (list !== undefined) {
    const named = parseDevices(list).map((spec) => {
      if (isGpuSpec(spec)) return describe(findGpu(spec), kinds);
      throw new Error(`${formatDevice(spec)} is no device of a GPU's driver`);
    });
    const first = named.filter(
      ({ spec }, i) => named.findIndex((other) => other.spec === spec) === i,
    );
    return { devices: first, missing: [] };
  }
  const supports = [
    ["cuda", cudaSupport()],
    ["opencl", openclSupport()],
  ] as const;
  const all = supports.flatMap(([, support]) =>
    support.available ? support.devices.map((device) => describe(device, kinds)) : [],
  );
  const hardware = all.filter(({ driver }) => driver === "hardware");
  return {
    devices: hardware.length > 0 ? hardware : all,
    missing: supports.flatMap(([name, support]) =>
      support.available ? [] : [{ name, reason: `${support.reason}; ${support.remedy}` }],
    ),
  };
}

/** What is known of CUDA's devices beside what the kernels' package tells. */
interface CudaKinds {
  readonly isEmulated: boolean;
  /** By the kernels' index. */
  readonly peaks: readonly Peaks[];
}

function driverKinds(): CudaKinds {
  const driver = openCudaDriver();
  if (driver === null) return { isEmulated: false, peaks: [] };
  const isEmulated = driver.standInUse !== null;
  return { isEmulated, peaks: isEmulated ? [] : gpuAttributes(driver).map(peaksOf) };
}

function describe(device: GpuDevice, { isEmulated, peaks }: CudaKinds): BenchDevice {
  const spec = `${device.technology}:${device.index}`;
  const common = { ...device, spec, label: spec, environment: {} };
  if (device.technology === "cuda") {
    const driver = isEmulated ? "emulated" : "hardware";
    return { ...common, driver, peaks: peaks[device.index] ?? null };
  }
  const driver = device.kind === "cpu" ? "software driver" : "hardware";
  return { ...common, driver, peaks: null };
}

/** The same device with the package's own products of matrices in place of cuBLAS's. */
export function withoutCublas(device: BenchDevice): BenchDevice {
  const label = `${device.spec} without cuBLAS`;
  return { ...device, label, environment: { HETEROSGD_CUBLAS: "off" } };
}

/** For tables: its name, and that it is software where it is. */
export function deviceWords({ label, name, driver }: BenchDevice): string {
  return driver === "hardware" ? `${label} (${name})` : `${label} (${name}, ${driver})`;
}
