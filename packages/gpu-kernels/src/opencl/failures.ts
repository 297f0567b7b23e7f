/** What OpenCL's errors mean for whoever uses the device. */
import { GpuKernelsError, outOfMemory } from "../errors.js";
import { errorName } from "./error-names.js";

/** Throws unless the status is 0. `memory` are bytes that the call takes, and those left. */
export type StatusCheck = (
  call: string,
  status: number,
  memory?: { readonly wanted: number; readonly free: number },
) => void;

/** No room on the device or beside it, and one that drivers give for that among other things. */
const noMemory: ReadonlySet<string> = new Set([
  "CL_MEM_OBJECT_ALLOCATION_FAILURE",
  "CL_OUT_OF_HOST_MEMORY",
]);

/** After a kernel that crashed, drivers answer with these whatever they are asked. */
const lost: ReadonlySet<string> = new Set([
  "CL_DEVICE_NOT_AVAILABLE",
  "CL_OUT_OF_RESOURCES",
  "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
  "CL_INVALID_CONTEXT",
  "CL_INVALID_COMMAND_QUEUE",
]);

export function createStatusCheck(device: string): StatusCheck {
  return (call, status, memory) => {
    if (status === 0) return;
    const name = errorName(status);
    if (memory !== undefined && (noMemory.has(name) || name === "CL_OUT_OF_RESOURCES")) {
      throw outOfMemory(device, memory.wanted, memory.free, `${call}: ${name}`);
    }
    if (noMemory.has(name)) {
      throw new GpuKernelsError(
        "GPU_MEMORY",
        `${device} has no memory left: ${call} returns ${name}.`,
      );
    }
    if (lost.has(name)) {
      throw new GpuKernelsError(
        "GPU_LOST",
        `${device} can't be used any more: ${call} returns ${name}.`,
      );
    }
    throw new GpuKernelsError("GPU_DRIVER", `${device}: ${call} returns ${name}.`);
  };
}
