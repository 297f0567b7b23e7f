/** What went wrong in the kernels or in getting them. The README lists what each code means. */
export type CpuKernelsErrorCode =
  /** The native addon can't be loaded here; the message says why. */
  | "NATIVE_UNAVAILABLE"
  /** The WebAssembly module can't be used; the message says why. */
  | "WASM_UNAVAILABLE"
  /** The processor lacks the instruction set, or the addon does not know it. */
  | "ISA_UNSUPPORTED"
  /** An array has the wrong length, type or place in memory. */
  | "KERNEL_ARRAY"
  /** A batch is not a valid CSR batch, or names features or labels that the layer lacks. */
  | "KERNEL_BATCH"
  /** A size, count or option is out of its range. */
  | "KERNEL_ARGUMENT"
  /** Memory for arrays or work buffers can't be had. */
  | "KERNEL_MEMORY"
  /** The kernels were used after `dispose`. */
  | "KERNEL_DISPOSED";

/**
 * An expected failure of this package. Its `code` is part of the interface, its message is for
 * people.
 */
export class CpuKernelsError extends Error {
  override readonly name = "CpuKernelsError";
  readonly code: CpuKernelsErrorCode;

  constructor(code: CpuKernelsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
