/** The functions of CUDA's driver that are used, in whichever library has them. */
import { libraryLoader } from "../driver-library.js";
import type { ForeignFunction } from "../koffi.js";

/** What a context, stream, event, module or function is known by. */
export type Handle = bigint;

/** An address in the device's memory. */
export type Address = bigint;

/** Memory of the host that a call reads or fills in. */
export type Memory =
  | Uint8Array
  | Int32Array
  | Uint32Array
  | BigUint64Array
  | Float32Array
  | bigint
  | null;

/** 0 or an error. */
export type Status = number;

/** In the order of their parameters. Those that make something fill in its handle. */
export interface CudaFunctions {
  readonly init: (flags: number) => Status;
  readonly driverVersion: (version: Memory) => Status;
  readonly errorName: (error: Status, name: [string | null]) => Status;
  readonly deviceCount: (count: Memory) => Status;
  readonly device: (device: Memory, ordinal: number) => Status;
  readonly deviceName: (name: Memory, bytes: number, device: number) => Status;
  readonly deviceMemory: (bytes: Memory, device: number) => Status;
  readonly deviceAttribute: (value: Memory, attribute: number, device: number) => Status;
  readonly retainContext: (context: Memory, device: number) => Status;
  readonly releaseContext: (device: number) => Status;
  readonly setContext: (context: Handle) => Status;
  readonly createStream: (stream: Memory, flags: number) => Status;
  readonly destroyStream: (stream: Handle) => Status;
  readonly finishStream: (stream: Handle) => Status;
  readonly waitEvent: (stream: Handle, event: Handle, flags: number) => Status;
  readonly createEvent: (event: Memory, flags: number) => Status;
  readonly destroyEvent: (event: Handle) => Status;
  readonly recordEvent: (event: Handle, stream: Handle) => Status;
  readonly finishEvent: (event: Handle) => Status;
  readonly queryEvent: (event: Handle) => Status;
  readonly loadModule: (module: Memory, image: Memory) => Status;
  readonly unloadModule: (module: Handle) => Status;
  readonly moduleFunction: (made: Memory, module: Handle, name: string) => Status;
  readonly memoryInfo: (free: Memory, total: Memory) => Status;
  readonly allocate: (address: Memory, bytes: number) => Status;
  readonly free: (address: Address) => Status;
  readonly allocateHost: (memory: Memory, bytes: number, flags: number) => Status;
  readonly freeHost: (memory: Memory) => Status;
  readonly fromHost: (target: Address, source: Memory, bytes: number, stream: Handle) => Status;
  readonly toHost: (target: Memory, source: Address, bytes: number, stream: Handle) => Status;
  readonly fill: (target: Address, value: number, count: number, stream: Handle) => Status;
  readonly launch: (
    made: Handle,
    gridX: number,
    gridY: number,
    gridZ: number,
    blockX: number,
    blockY: number,
    blockZ: number,
    sharedBytes: number,
    stream: Handle,
    parameters: Memory,
    extra: null,
  ) => Status;
}

export const EVENT_DISABLE_TIMING = 2;

/** `_v2`: their first versions, under the names without, have other parameters. */
const declarations: Readonly<Record<keyof CudaFunctions, string>> = {
  init: "int cuInit(uint32_t)",
  driverVersion: "int cuDriverGetVersion(void *)",
  errorName: "int cuGetErrorName(int, _Out_ const char **)",
  deviceCount: "int cuDeviceGetCount(void *)",
  device: "int cuDeviceGet(void *, int)",
  deviceName: "int cuDeviceGetName(void *, int, int)",
  deviceMemory: "int cuDeviceTotalMem_v2(void *, int)",
  deviceAttribute: "int cuDeviceGetAttribute(void *, int, int)",
  retainContext: "int cuDevicePrimaryCtxRetain(void *, int)",
  releaseContext: "int cuDevicePrimaryCtxRelease_v2(int)",
  setContext: "int cuCtxSetCurrent(uint64_t)",
  createStream: "int cuStreamCreate(void *, uint32_t)",
  destroyStream: "int cuStreamDestroy_v2(uint64_t)",
  finishStream: "int cuStreamSynchronize(uint64_t)",
  waitEvent: "int cuStreamWaitEvent(uint64_t, uint64_t, uint32_t)",
  createEvent: "int cuEventCreate(void *, uint32_t)",
  destroyEvent: "int cuEventDestroy_v2(uint64_t)",
  recordEvent: "int cuEventRecord(uint64_t, uint64_t)",
  finishEvent: "int cuEventSynchronize(uint64_t)",
  queryEvent: "int cuEventQuery(uint64_t)",
  loadModule: "int cuModuleLoadData(void *, void *)",
  unloadModule: "int cuModuleUnload(uint64_t)",
  moduleFunction: "int cuModuleGetFunction(void *, uint64_t, const char *)",
  memoryInfo: "int cuMemGetInfo_v2(void *, void *)",
  allocate: "int cuMemAlloc_v2(void *, size_t)",
  free: "int cuMemFree_v2(uint64_t)",
  allocateHost: "int cuMemHostAlloc(void *, size_t, uint32_t)",
  freeHost: "int cuMemFreeHost(void *)",
  fromHost: "int cuMemcpyHtoDAsync_v2(uint64_t, void *, size_t, uint64_t)",
  toHost: "int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, uint64_t)",
  fill: "int cuMemsetD32Async(uint64_t, uint32_t, size_t, uint64_t)",
  launch:
    "int cuLaunchKernel(uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, " +
    "uint32_t, uint64_t, void *, void *)",
};

/** The environment variable that names another library than the system's. */
export const libraryVariable = "HETEROSGD_CUDA_LIBRARY";

export const driverRemedy = "install NVIDIA's driver for the graphics card";

/** Loads the library, once a thread. */
export const loadCuda = libraryLoader({
  names: process.platform === "win32" ? ["nvcuda.dll"] : ["libcuda.so.1", "libcuda.so"],
  variable: libraryVariable,
  remedy: driverRemedy,
  functionsOf,
});

function functionsOf(library: { func(definition: string): ForeignFunction }): CudaFunctions {
  const functions = Object.entries(declarations).map(([name, declaration]) => [
    name,
    library.func(declaration),
  ]);
  return Object.fromEntries(functions) as CudaFunctions;
}
