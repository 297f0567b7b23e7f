/** The functions of OpenCL 1.2 that are used, in whichever library has them. */
import { libraryLoader } from "../driver-library.js";
import type { ForeignFunction } from "../koffi.js";

/** What a platform, device, context, queue, buffer, program, kernel or event is known by. */
export type Handle = bigint;

/** Memory that a call reads or fills in. Null is no memory. */
export type Memory = Uint8Array | Uint32Array | BigUint64Array | Float32Array | bigint | null;

/** 0 or an error. */
export type Status = number;

/** Functions that make something return its handle, and fill in a status. */
export interface OpenClFunctions {
  readonly getPlatformIds: (entries: number, platforms: Memory, count: Memory) => Status;
  readonly getDeviceIds: (
    platform: Handle,
    type: number,
    entries: number,
    devices: Memory,
    count: Memory,
  ) => Status;
  readonly getDeviceInfo: (
    device: Handle,
    name: number,
    bytes: number,
    value: Memory,
    needed: Memory,
  ) => Status;
  readonly createContext: (
    properties: Memory,
    count: number,
    devices: Memory,
    notify: null,
    data: null,
    status: Memory,
  ) => Handle;
  readonly createQueue: (
    context: Handle,
    device: Handle,
    properties: number,
    status: Memory,
  ) => Handle;
  readonly createProgram: (
    context: Handle,
    count: number,
    sources: readonly string[],
    lengths: null,
    status: Memory,
  ) => Handle;
  readonly buildProgram: (
    program: Handle,
    count: number,
    devices: Memory,
    options: string,
    notify: null,
    data: null,
  ) => Status;
  readonly getBuildInfo: (
    program: Handle,
    device: Handle,
    name: number,
    bytes: number,
    value: Memory,
    needed: Memory,
  ) => Status;
  readonly createKernel: (program: Handle, name: string, status: Memory) => Handle;
  readonly setArgument: (kernel: Handle, index: number, bytes: number, value: Memory) => Status;
  readonly enqueueKernel: (
    queue: Handle,
    kernel: Handle,
    dimensions: number,
    offset: null,
    items: Memory,
    groupSize: Memory,
    waits: number,
    waitList: Memory,
    event: Memory,
  ) => Status;
  readonly createBuffer: (
    context: Handle,
    flags: number,
    bytes: number,
    host: null,
    status: Memory,
  ) => Handle;
  readonly enqueueWrite: Transfer;
  readonly enqueueRead: Transfer;
  readonly enqueueFill: (
    queue: Handle,
    buffer: Handle,
    pattern: Memory,
    patternBytes: number,
    offset: number,
    bytes: number,
    waits: number,
    waitList: Memory,
    event: Memory,
  ) => Status;
  readonly enqueueMarker: (queue: Handle, waits: number, waitList: Memory, event: Memory) => Status;
  readonly enqueueBarrier: (
    queue: Handle,
    waits: number,
    waitList: Memory,
    event: Memory,
  ) => Status;
  readonly waitForEventsLater: (
    count: number,
    events: Memory,
    done: (error: unknown, status: Status) => void,
  ) => void;
  readonly flush: (queue: Handle) => Status;
  readonly finish: (queue: Handle) => Status;
  readonly releaseEvent: (event: Handle) => Status;
  readonly releaseBuffer: (buffer: Handle) => Status;
  readonly releaseKernel: (kernel: Handle) => Status;
  readonly releaseProgram: (program: Handle) => Status;
  readonly releaseQueue: (queue: Handle) => Status;
  readonly releaseContext: (context: Handle) => Status;
}

type Transfer = (
  queue: Handle,
  buffer: Handle,
  blocking: number,
  offset: number,
  bytes: number,
  host: Memory,
  waits: number,
  waitList: Memory,
  event: Memory,
) => Status;

/** The environment variable that names another library than the system's. */
const libraryVariable = "HETEROSGD_OPENCL_LIBRARY";

const systemLibraries: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ["/System/Library/Frameworks/OpenCL.framework/OpenCL"],
  win32: ["OpenCL.dll"],
};

export const driverRemedy =
  process.platform === "linux"
    ? "install the driver of the graphics card with its OpenCL part, or pocl for the processor: " +
      "`apt-get install ocl-icd-libopencl1 pocl-opencl-icd`"
    : "install the driver of the graphics card with its OpenCL part";

/** Loads the library, once a thread. */
export const loadOpenCl = libraryLoader({
  names: systemLibraries[process.platform] ?? ["libOpenCL.so.1", "libOpenCL.so"],
  variable: libraryVariable,
  remedy: driverRemedy,
  functionsOf,
});

function functionsOf(library: { func(definition: string): ForeignFunction }): OpenClFunctions {
  const call = (name: string, result: string, parameters: string): ForeignFunction =>
    library.func(`${result} ${name}(${parameters})`);
  const status = (name: string, parameters: string) => call(name, "int", parameters);
  // 64 bits whatever fits, so that handles are of one type.
  const handle = (name: string, parameters: string) => {
    const make = call(name, "uintptr_t", parameters);
    return (...values: unknown[]): Handle => BigInt(make(...values) as number | bigint);
  };
  const events = "uint32_t, void *, void *";
  const transfer = `uintptr_t, uintptr_t, uint32_t, size_t, size_t, void *, ${events}`;
  const info = "uint32_t, size_t, void *, void *";
  const waitForEvents = status("clWaitForEvents", "uint32_t, void *");
  return {
    getPlatformIds: status("clGetPlatformIDs", "uint32_t, void *, void *"),
    getDeviceIds: status("clGetDeviceIDs", "uintptr_t, uint64_t, uint32_t, void *, void *"),
    getDeviceInfo: status("clGetDeviceInfo", `uintptr_t, ${info}`),
    createContext: handle("clCreateContext", "void *, uint32_t, void *, void *, void *, void *"),
    createQueue: handle("clCreateCommandQueue", "uintptr_t, uintptr_t, uint64_t, void *"),
    createProgram: handle(
      "clCreateProgramWithSource",
      "uintptr_t, uint32_t, const char **, void *, void *",
    ),
    buildProgram: status(
      "clBuildProgram",
      "uintptr_t, uint32_t, void *, const char *, void *, void *",
    ),
    getBuildInfo: status("clGetProgramBuildInfo", `uintptr_t, uintptr_t, ${info}`),
    createKernel: handle("clCreateKernel", "uintptr_t, const char *, void *"),
    setArgument: status("clSetKernelArg", "uintptr_t, uint32_t, size_t, void *"),
    enqueueKernel: status(
      "clEnqueueNDRangeKernel",
      `uintptr_t, uintptr_t, uint32_t, void *, void *, void *, ${events}`,
    ),
    createBuffer: handle("clCreateBuffer", "uintptr_t, uint64_t, size_t, void *, void *"),
    enqueueWrite: status("clEnqueueWriteBuffer", transfer),
    enqueueRead: status("clEnqueueReadBuffer", transfer),
    enqueueFill: status(
      "clEnqueueFillBuffer",
      `uintptr_t, uintptr_t, void *, size_t, size_t, size_t, ${events}`,
    ),
    enqueueMarker: status("clEnqueueMarkerWithWaitList", `uintptr_t, ${events}`),
    enqueueBarrier: status("clEnqueueBarrierWithWaitList", `uintptr_t, ${events}`),
    waitForEventsLater: (count, list, done) => void waitForEvents.async(count, list, done),
    flush: status("clFlush", "uintptr_t"),
    finish: status("clFinish", "uintptr_t"),
    releaseEvent: status("clReleaseEvent", "uintptr_t"),
    releaseBuffer: status("clReleaseMemObject", "uintptr_t"),
    releaseKernel: status("clReleaseKernel", "uintptr_t"),
    releaseProgram: status("clReleaseProgram", "uintptr_t"),
    releaseQueue: status("clReleaseCommandQueue", "uintptr_t"),
    releaseContext: status("clReleaseContext", "uintptr_t"),
  };
}
