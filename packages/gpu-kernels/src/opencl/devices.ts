/** Which devices the platforms offer, as OpenCL tells it. */
import type { GpuDevice, GpuSupport } from "../driver.js";
import { GpuKernelsError } from "../errors.js";
import { messageOf, type Lack } from "../lack.js";
import { errorName } from "./error-names.js";
import { driverRemedy, loadOpenCl, type Handle, type OpenClFunctions } from "./library.js";

/** A device, and what it is opened by. */
export interface OpenClDevice {
  readonly info: GpuDevice;
  readonly id: Handle;
  readonly maxBufferBytes: number;
}

type FoundDevices =
  | { readonly ok: true; readonly cl: OpenClFunctions; readonly devices: readonly OpenClDevice[] }
  | Lack;

const PLATFORM_NOT_FOUND = -1001;
const DEVICE_NOT_FOUND = -1;
const deviceTypes = { all: 0xffff_ffff, cpu: 1 << 1, gpu: 1 << 2 } as const;
const deviceInfo = {
  type: 0x1000,
  maxGroupSize: 0x1004,
  maxBufferBytes: 0x1010,
  littleEndian: 0x1026,
  memory: 0x101f,
  sharedBytes: 0x1023,
  available: 0x1027,
  compiler: 0x1028,
  name: 0x102b,
  version: 0x102f,
} as const;

/** Items of the kernels' largest groups, and bytes that they share (`sort_scores` in `kernels/rank.cu`). */
const neededGroupSize = 256;
const neededSharedBytes = 2048 * 8;

/**
 * The devices that OpenCL offers here. Never throws.
 *
 * A process whose workers open OpenCL devices has to call it in the main thread first: drivers look
 * for their devices at the first call, and some (pocl) crash when two threads make it at once.
 *
 * @param options.library - the library that has OpenCL's functions, instead of the system's.
 */
export function openclSupport({ library }: { readonly library?: string } = {}): GpuSupport {
  const found = findOpenClDevices(library);
  if (!found.ok) return { available: false, reason: found.reason, remedy: found.remedy };
  return { available: true, devices: found.devices.map(({ info }) => info) };
}

function findOpenClDevices(library?: string): FoundDevices {
  const loaded = loadOpenCl(library);
  if (!loaded.ok) return loaded;
  const { functions: cl } = loaded;
  try {
    const devices: OpenClDevice[] = [];
    const unfit: string[] = [];
    for (const platform of platformsOf(cl)) {
      for (const id of devicesOf(cl, platform)) {
        const device = describe(cl, id, devices.length);
        if (typeof device === "string") unfit.push(device);
        else devices.push(device);
      }
    }
    if (devices.length > 0) return { ok: true, cl, devices };
    const reason = unfit.length > 0 ? unfit.join("; ") : "OpenCL finds no device here";
    return { ok: false, reason, remedy: driverRemedy };
  } catch (error) {
    return { ok: false, reason: `OpenCL fails: ${messageOf(error)}`, remedy: driverRemedy };
  }
}

/**
 * The device of that index, and the functions that it is reached by.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE
 */
export function requireOpenClDevice(
  index: number,
  library?: string,
): { readonly cl: OpenClFunctions; readonly device: OpenClDevice } {
  const found = findOpenClDevices(library);
  if (!found.ok) {
    const message = `No OpenCL device: ${found.reason}; ${found.remedy}.`;
    throw new GpuKernelsError("GPU_UNAVAILABLE", message);
  }
  const { cl, devices } = found;
  const device = devices[index];
  if (device !== undefined) return { cl, device };
  throw new GpuKernelsError(
    "GPU_UNAVAILABLE",
    `There is no OpenCL device ${index}; ${devices.length} are found, from 0 on: ` +
      `${devices.map(({ info }) => info.name).join(", ")}.`,
  );
}

function check(call: string, status: number): void {
  if (status !== 0) throw new Error(`${call} returns ${errorName(status)}`);
}

function platformsOf(cl: OpenClFunctions): readonly Handle[] {
  const count = new Uint32Array(1);
  const status = cl.getPlatformIds(0, null, count);
  if (status === PLATFORM_NOT_FOUND || count[0] === 0) return [];
  check("clGetPlatformIDs", status);
  const platforms = new BigUint64Array(count[0]);
  check("clGetPlatformIDs", cl.getPlatformIds(platforms.length, platforms, null));
  return [...platforms];
}

function devicesOf(cl: OpenClFunctions, platform: Handle): readonly Handle[] {
  const count = new Uint32Array(1);
  const status = cl.getDeviceIds(platform, deviceTypes.all, 0, null, count);
  if (status === DEVICE_NOT_FOUND || count[0] === 0) return [];
  check("clGetDeviceIDs", status);
  const devices = new BigUint64Array(count[0]);
  check(
    "clGetDeviceIDs",
    cl.getDeviceIds(platform, deviceTypes.all, devices.length, devices, null),
  );
  return [...devices];
}

/** What a device is, or why it can't be used. */
function describe(cl: OpenClFunctions, id: Handle, index: number): OpenClDevice | string {
  const words = new BigUint64Array(1);
  const number = (name: number): number => {
    words[0] = 0n;
    check("clGetDeviceInfo", cl.getDeviceInfo(id, name, words.byteLength, words, null));
    return Number(words[0]);
  };
  const name = text(cl, id, deviceInfo.name);
  const version = text(cl, id, deviceInfo.version);
  const [, major, minor] = /^OpenCL (\d+)\.(\d+)/u.exec(version) ?? [];
  const isTooOld = major === undefined || Number(major) + Number(minor) / 10 < 1.2;
  if (isTooOld) return `${name} has ${version}, OpenCL 1.2 is needed`;
  if (number(deviceInfo.available) === 0) return `${name} is not available`;
  if (number(deviceInfo.compiler) === 0) return `${name} has no compiler`;
  if (number(deviceInfo.littleEndian) === 0) return `${name} is big-endian`;
  const groupSize = number(deviceInfo.maxGroupSize);
  if (groupSize < neededGroupSize) {
    return `${name} has groups of at most ${groupSize} work items, ${neededGroupSize} are needed`;
  }
  const sharedBytes = number(deviceInfo.sharedBytes);
  if (sharedBytes < neededSharedBytes) {
    return `${name} has ${sharedBytes} bytes for a group, ${neededSharedBytes} are needed`;
  }
  const type = number(deviceInfo.type);
  const kind =
    (type & deviceTypes.gpu) !== 0 ? "gpu" : (type & deviceTypes.cpu) !== 0 ? "cpu" : "accelerator";
  const info = {
    technology: "opencl",
    index,
    name,
    kind,
    memory: number(deviceInfo.memory),
  } as const;
  return { info, id, maxBufferBytes: number(deviceInfo.maxBufferBytes) };
}

function text(cl: OpenClFunctions, id: Handle, name: number): string {
  const bytes = new Uint8Array(1024);
  check("clGetDeviceInfo", cl.getDeviceInfo(id, name, bytes.length, bytes, null));
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end)).trim();
}
