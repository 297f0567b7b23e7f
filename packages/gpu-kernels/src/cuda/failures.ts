/** What the errors of CUDA's driver mean for whoever uses the device. */
import { GpuKernelsError, outOfMemory } from "../errors.js";
import type { CudaFunctions, Status } from "./library.js";

/** Throws unless the status is 0. `memory` are bytes that the call takes, and those left. */
export type StatusCheck = (
  call: string,
  status: Status,
  memory?: { readonly wanted: number; readonly free: number },
) => void;

const OUT_OF_MEMORY = 2;

/**
 * From 700 on: a kernel failed, and every later call of the context does; from 800 on the driver's own
 * parts don't go together. But for those that say that one call is not to be had.
 */
const harmless: ReadonlySet<Status> = new Set([701, 703, 704, 705, 708, 712, 713, 720, 800, 801]);

/** The driver was shut down, the device or its context is gone, or its memory has an error. */
const lost: ReadonlySet<Status> = new Set([4, 46, 101, 201, 214, 220, 226, 999]);

/** Whether nothing can be done with the device any more, by what it was opened for. */
function isLoss(status: Status): boolean {
  return lost.has(status) || (status >= 700 && status < 900 && !harmless.has(status));
}

/** As the driver names it: `CUDA_ERROR_…`. */
export function errorName(cuda: CudaFunctions, status: Status): string {
  const name: [string | null] = [null];
  cuda.errorName(status, name);
  return name[0] ?? `error ${status}`;
}

/**
 * @param onLoss - called before the error is thrown, when the device is lost.
 */
export function createStatusCheck(
  cuda: CudaFunctions,
  device: string,
  onLoss: (error: GpuKernelsError) => void,
): StatusCheck {
  return (call, status, memory) => {
    if (status === 0) return;
    const name = errorName(cuda, status);
    if (status === OUT_OF_MEMORY) {
      throw memory === undefined
        ? new GpuKernelsError(
            "GPU_MEMORY",
            `${device} has no memory left: ${call} returns ${name}.`,
          )
        : outOfMemory(device, memory.wanted, memory.free, `${call}: ${name}`);
    }
    if (isLoss(status)) {
      const error = new GpuKernelsError(
        "GPU_LOST",
        `${device} can't be used any more: ${call} returns ${name}.`,
      );
      onLoss(error);
      throw error;
    }
    throw new GpuKernelsError("GPU_DRIVER", `${device}: ${call} returns ${name}.`);
  };
}
