/**
 * What the kernels need of a device, whichever vendor's driver stands behind it: memory, copies and
 * launches. Everything on one queue is done in the order in which it was asked for; calls return
 * before that, but for `read`, whose result is there when it (or its promise) is done, and `finish`.
 *
 * A driver keeps its caller from nothing: the kernels check arrays, lengths and shapes before they
 * call it. What it does check is what the device's driver answers.
 */

/** A piece of the device's memory. */
export interface GpuBuffer {
  readonly bytes: number;
}

/** Where an argument's data begins: a buffer and the elements of 4 bytes to skip in it. */
export interface GpuPointer {
  readonly buffer: GpuBuffer;
  readonly offset: number;
}

/**
 * One parameter of a kernel, in the order of its declaration. A pointer stands for what the
 * kernels' `POINTER` declares: the buffer, then the offset in elements as a u64.
 */
export type GpuArgument =
  | { readonly kind: "pointer"; readonly value: GpuPointer }
  | { readonly kind: "u32"; readonly value: number }
  | { readonly kind: "f32"; readonly value: number };

/** A compiled kernel of this device. */
export interface GpuKernel {
  readonly name: string;
}

/** `copy` has uploads run beside the kernels on `compute`. */
export type GpuQueue = "compute" | "copy";

/** A place in what was asked for, which queues can wait for. */
export interface GpuMark {
  readonly mark: number;
}

/**
 * A factor of a product of matrices: its elements lie so far apart, by its own index and by the common one. One of
 * them is 1.
 */
export interface GpuFactor {
  readonly place: GpuPointer;
  readonly stride: number;
  readonly inner: number;
}

/** `out[rows × columns] = scale · Σ left[row][k] · right[column][k] + kept · out` over `inner` values of k. */
export interface GpuProduct {
  readonly rows: number;
  readonly columns: number;
  readonly inner: number;
  readonly left: GpuFactor;
  readonly right: GpuFactor;
  readonly scale: number;
  /** With 0, what is in `out` is not read. */
  readonly kept: number;
  readonly out: GpuPointer;
}

/** Products of matrices by the vendor's own library, on `compute`. */
export interface GpuProductLibrary {
  readonly name: "cublas";
  /** Bytes of the device's memory that it was given to work in. */
  readonly workBytes: number;
  /** Sizes and strides below 2³¹. @throws GpuKernelsError GPU_MEMORY, GPU_LOST, GPU_DRIVER */
  readonly multiply: (product: GpuProduct) => void;
}

export interface GpuDriver {
  readonly technology: "cuda" | "opencl";
  /** As the driver names the device. */
  readonly name: string;
  readonly kind: "gpu" | "cpu" | "accelerator";
  /** Bytes of the device's memory: all, and what is free as far as the driver tells (else null). */
  memory(): { readonly total: number; readonly free: number | null };
  /** Null where there is none, or is to be none. */
  readonly products: GpuProductLibrary | null;
  /** Bytes that one buffer may have. */
  readonly maxBufferBytes: number;

  /** Memory with anything in it. @throws GpuKernelsError GPU_MEMORY */
  allocate(bytes: number): GpuBuffer;
  /** May be called while work on the buffer is under way. */
  free(buffer: GpuBuffer): void;
  /** Sets so many elements of 4 bytes to 0, on `compute`. */
  clear(target: GpuPointer, length: number): void;
  /** The source may be changed as soon as this returns. */
  write(source: Uint32Array | Float32Array, target: GpuPointer, queue: GpuQueue): void;
  /**
   * Copies what is there when all that was asked for before on `compute` is done; what is asked for
   * afterwards does not show. With a promise, `target` is not to be touched until it is resolved.
   *
   * @throws GpuKernelsError GPU_LOST, GPU_DRIVER (or the promise is rejected with it)
   */
  read(source: GpuPointer, target: Uint32Array | Float32Array): void | Promise<void>;

  /** Made once; a mark may be recorded again and again. Before that, waiting for it is nothing. */
  createMark(): GpuMark;
  /** The mark now stands behind all that was asked for on `queue` until now. */
  record(mark: GpuMark, queue: GpuQueue): void;
  /** What is asked for on `queue` from now on begins when the mark, as recorded last, is reached. */
  wait(mark: GpuMark, queue: GpuQueue): void;

  /** @throws GpuKernelsError GPU_DRIVER if there is no kernel of that name. */
  kernel(name: string): GpuKernel;
  /**
   * `groups` × `groupSize` work items on `compute`, in one dimension or two (left out: 1). Groups
   * are at most 2³¹ − 1 in x and 65,535 in y. The list of arguments may be changed afterwards.
   */
  launch(
    kernel: GpuKernel,
    groups: readonly [x: number, y?: number],
    groupSize: readonly [x: number, y?: number],
    values: readonly GpuArgument[],
  ): void;
  /** Waits until all that was asked for is done. @throws GpuKernelsError GPU_LOST, GPU_DRIVER */
  finish(): void;
  /** Gives all memory back, after waiting for what is under way. Nothing may be called after it. */
  close(): void;
}

/** A device that a driver offers. */
export interface GpuDevice {
  readonly technology: "cuda" | "opencl";
  /** From 0 on, in the driver's order; what `createGpuKernels` opens it by. */
  readonly index: number;
  /** As the driver names it. */
  readonly name: string;
  /** `cpu` is a driver that runs kernels on the processor, such as pocl. */
  readonly kind: "gpu" | "cpu" | "accelerator";
  /** Bytes of its memory. */
  readonly memory: number;
}

/** Which devices a technology offers here, or why none. */
export type GpuSupport =
  | { readonly available: true; readonly devices: readonly GpuDevice[] }
  | {
      readonly available: false;
      readonly reason: string;
      /** What would help. */
      readonly remedy: string;
    };
