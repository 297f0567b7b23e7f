/**
 * Which context the calls of this thread are for. The driver keeps one a thread; kernels of several devices, and
 * what asks for memory, may take turns in it.
 */
import type { StatusCheck } from "./failures.js";
import type { CudaFunctions, Handle } from "./library.js";

let current: Handle = 0n;

/** Makes it the thread's, unless it is already. */
export function enterContext(cuda: CudaFunctions, context: Handle, check: StatusCheck): void {
  if (current === context) return;
  check("cuCtxSetCurrent", cuda.setContext(context));
  current = context;
}

/** To be called when a context is given back: whoever comes next makes its own the thread's. */
export function leaveContext(): void {
  current = 0n;
}

/** The primary context of a device. It has to be given back as often as it was taken. */
export function retainContext(cuda: CudaFunctions, ordinal: number, check: StatusCheck): Handle {
  const handle = new BigUint64Array(1);
  check("cuDevicePrimaryCtxRetain", cuda.retainContext(handle, ordinal));
  return handle[0]!;
}

export interface DeviceMemory {
  readonly total: number;
  readonly free: number;
}

/** Bytes of the memory of the thread's context. */
export function contextMemory(cuda: CudaFunctions, check: StatusCheck): DeviceMemory {
  const free = new BigUint64Array(1);
  const total = new BigUint64Array(1);
  check("cuMemGetInfo_v2", cuda.memoryInfo(free, total));
  return { total: Number(total[0]), free: Number(free[0]) };
}
