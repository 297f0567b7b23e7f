/** What went wrong on a GPU or in getting one. The README lists what each code means. */
export type GpuKernelsErrorCode =
  /** No device of that technology can be used here; the message says why. */
  | "GPU_UNAVAILABLE"
  /** The device has not as much memory left as is needed; the message has both numbers. */
  | "GPU_MEMORY"
  /** The driver reports that the device is gone, or can't be used any more by this process. */
  | "GPU_LOST"
  /** The driver refused or failed a call; the message has its own name for why. */
  | "GPU_DRIVER"
  /** An array has the wrong length, or belongs to another device. */
  | "KERNEL_ARRAY"
  /** A batch is not a valid CSR batch, or names features or labels that the layer lacks. */
  | "KERNEL_BATCH"
  /** A size, count or option is out of its range. */
  | "KERNEL_ARGUMENT"
  /** The kernels were used after `dispose`. */
  | "KERNEL_DISPOSED";

/**
 * An expected failure of this package. Its `code` is part of the interface, its message is for
 * people.
 */
export class GpuKernelsError extends Error {
  override readonly name = "GpuKernelsError";
  readonly code: GpuKernelsErrorCode;

  constructor(code: GpuKernelsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

/** The device lacks memory: what was asked for, and what it has left (null: it does not tell). */
export function outOfMemory(
  device: string,
  wanted: number,
  free: number | null,
  cause?: string,
): GpuKernelsError {
  const left =
    free === null ? "it does not say how much it has left" : `${mebibytes(free)} are left`;
  return new GpuKernelsError(
    "GPU_MEMORY",
    `${device} has no room for ${mebibytes(wanted)}, ${left}` +
      `${cause === undefined ? "" : ` (${cause})`}: use smaller batches or fewer hidden units, or ` +
      "end what else uses the device.",
  );
}

/** An array is larger than the driver lets one be, though the device's memory is not. */
export function tooLargeForOne(device: string, wanted: number, most: number): GpuKernelsError {
  return new GpuKernelsError(
    "GPU_MEMORY",
    `${device} has room for at most ${mebibytes(most)} in one array, not for ${mebibytes(wanted)}: ` +
      "use fewer hidden units, or train on another device.",
  );
}
