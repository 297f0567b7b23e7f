import type { GpuBuffer, GpuDriver, GpuMark, GpuPointer, GpuQueue } from "../driver.js";
import { GpuKernelsError } from "../errors.js";
import { loadKoffi, type Koffi } from "../koffi.js";
import { cublasChoice, openCublas, workspaceBytes, type CublasChoice } from "./cublas.js";
import { contextMemory, enterContext, leaveContext, retainContext } from "./context.js";
import { noDevice, requireCudaDevice, type CudaDevice } from "./devices.js";
import { createStatusCheck, type StatusCheck } from "./failures.js";
import { createLauncher } from "./launcher.js";
import { EVENT_DISABLE_TIMING, type Address, type CudaFunctions, type Handle } from "./library.js";
import { ptxImage } from "./ptx.js";
import { createReader } from "./reader.js";
import { createStaging } from "./staging.js";

interface Buffer extends GpuBuffer {
  readonly address: Address;
}

interface Mark extends GpuMark {
  readonly event: Handle;
}

/** Streams don't wait for the default one, nor it for them. */
const STREAM_NON_BLOCKING = 1;

/**
 * Opens the device of that index among those of `cudaSupport()`, in its primary context, with streams
 * and memory of its own. Once the device is lost, every call throws what its loss was found by.
 *
 * @param options.cublas - the library of that name, or whether the system's is taken where there is one.
 * @param options.image - PTX that ends in a NUL, instead of the package's own kernels.
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_DRIVER, GPU_MEMORY, GPU_LOST
 */
export function openCudaDriver({
  index,
  library,
  image,
  cublas,
}: {
  readonly index: number;
  readonly library?: string | undefined;
  readonly cublas?: CublasChoice | undefined;
  readonly image?: Uint8Array | undefined;
}): GpuDriver {
  const { cuda, device } = requireCudaDevice(index, library);
  const loaded = loadKoffi();
  if (!loaded.ok) throw noDevice(loaded);
  const options = { image: image ?? ptxImage(), cublas: cublasChoice(cublas, library) };
  return openDevice(cuda, loaded.koffi, device, options);
}

function openDevice(
  cuda: CudaFunctions,
  koffi: Koffi,
  { info, ordinal, capability }: CudaDevice,
  { image, cublas }: { readonly image: Uint8Array; readonly cublas: CublasChoice },
): GpuDriver {
  /** What gives back what was taken, last taken last. */
  const taken: (() => void)[] = [];
  let loss: GpuKernelsError | undefined;

  // What fails here fails because the device is lost, and there is nothing to be done about it.
  function release(): void {
    for (const giveBack of taken.toReversed()) giveBack();
    taken.length = 0;
  }
  const check = createStatusCheck(cuda, info.name, (error) => {
    loss = error;
    // The process gets a new context only when nobody keeps the failed one.
    release();
  });

  try {
    const context = retainContext(cuda, ordinal, check);
    taken.push(() => {
      leaveContext();
      cuda.releaseContext(ordinal);
    });
    const enter = () => {
      if (loss !== undefined) throw loss;
      enterContext(cuda, context, check);
    };
    enter();
    const parts = openParts(cuda, koffi, { image, check, enter, taken });
    const shared = { info, enter, check, taken, release };
    const driver = driverOver(cuda, { ...shared, capability, cublas, ...parts });
    // Given back first: what follows needs the context.
    taken.push(() => cuda.setContext(context));
    return driver;
  } catch (error) {
    release();
    throw error;
  }
}

function made(check: StatusCheck, call: string, make: (handle: BigUint64Array) => number): Handle {
  const handle = new BigUint64Array(1);
  check(call, make(handle));
  return handle[0]!;
}

function openParts(
  cuda: CudaFunctions,
  koffi: Koffi,
  {
    image,
    check,
    enter,
    taken,
  }: {
    readonly image: Uint8Array;
    readonly check: StatusCheck;
    readonly enter: () => void;
    readonly taken: (() => void)[];
  },
) {
  const [compute, copy] = ["compute", "copy"].map(() => {
    const stream = made(check, "cuStreamCreate", (handle) =>
      cuda.createStream(handle, STREAM_NON_BLOCKING),
    );
    taken.push(() => cuda.destroyStream(stream));
    return stream;
  }) as [Handle, Handle];
  const module = made(check, "cuModuleLoadData", (handle) => cuda.loadModule(handle, image));
  taken.push(() => cuda.unloadModule(module));
  const launcher = createLauncher(cuda, koffi, { module, stream: compute, check });
  taken.push(() => launcher.close());
  const staging = createStaging(cuda, koffi, { stream: copy, check, taken });
  const reader = createReader(cuda, koffi, { stream: compute, check, enter, taken });
  return { compute, copy, launcher, reader, staging };
}

function driverOver(
  cuda: CudaFunctions,
  {
    info,
    enter,
    check,
    taken,
    release,
    capability,
    cublas,
    compute,
    copy,
    launcher,
    reader,
    staging,
  }: ReturnType<typeof openParts> & {
    readonly info: CudaDevice["info"];
    readonly enter: () => void;
    readonly check: StatusCheck;
    readonly taken: (() => void)[];
    readonly release: () => void;
    readonly capability: number;
    readonly cublas: CublasChoice;
  },
): GpuDriver {
  const streams: Readonly<Record<GpuQueue, Handle>> = { compute, copy };
  const buffers = new Set<Buffer>();
  const marks: Mark[] = [];
  taken.push(() => {
    cuda.finishStream(copy);
    cuda.finishStream(compute);
    for (const { address } of buffers) cuda.free(address);
    for (const { event } of marks) cuda.destroyEvent(event);
  });

  const addressOf = ({ buffer }: GpuPointer): Address => (buffer as Buffer).address;
  const placeOf = (pointer: GpuPointer): Address => addressOf(pointer) + BigInt(4 * pointer.offset);
  const finish = (queue: GpuQueue) =>
    check("cuStreamSynchronize", cuda.finishStream(streams[queue]));

  function memory() {
    enter();
    return contextMemory(cuda, check);
  }

  function allocate(bytes: number): Buffer {
    enter();
    const handle = new BigUint64Array(1);
    const status = cuda.allocate(handle, Math.max(bytes, 4));
    if (status !== 0) check("cuMemAlloc_v2", status, { wanted: bytes, free: memory().free });
    const buffer: Buffer = { bytes, address: handle[0]! };
    buffers.add(buffer);
    return buffer;
  }

  const products = openCublas(cublas, {
    device: info.name,
    stream: compute,
    allocate: (bytes) => allocate(bytes).address,
    workBytes: workspaceBytes(capability),
    addressOf: placeOf,
    enter,
    finish: () => finish("compute"),
    taken,
  });

  return {
    technology: "cuda",
    name: info.name,
    kind: info.kind,
    products: products.ok ? products : null,
    maxBufferBytes: info.memory,
    memory,
    allocate,

    free(buffer) {
      enter();
      // The driver waits for what is under way.
      if (buffers.delete(buffer as Buffer)) {
        check("cuMemFree_v2", cuda.free((buffer as Buffer).address));
      }
    },

    clear(target, length) {
      if (length === 0) return;
      enter();
      check("cuMemsetD32Async", cuda.fill(placeOf(target), 0, length, compute));
    },

    write(source, target, queue) {
      if (source.length === 0) return;
      enter();
      if (queue === "copy") {
        staging.write(source, placeOf(target));
        return;
      }
      const { byteLength } = source;
      const status = cuda.fromHost(placeOf(target), source, byteLength, compute);
      check("cuMemcpyHtoDAsync_v2", status);
    },

    read(source, target) {
      if (target.length === 0) return;
      enter();
      return reader.read(placeOf(source), target);
    },

    createMark() {
      enter();
      const event = made(check, "cuEventCreate", (handle) =>
        cuda.createEvent(handle, EVENT_DISABLE_TIMING),
      );
      const mark: Mark = { mark: marks.length, event };
      marks.push(mark);
      return mark;
    },

    record(mark, queue) {
      enter();
      check("cuEventRecord", cuda.recordEvent((mark as Mark).event, streams[queue]));
    },

    wait(mark, queue) {
      enter();
      check("cuStreamWaitEvent", cuda.waitEvent(streams[queue], (mark as Mark).event, 0));
    },

    kernel(name) {
      enter();
      return launcher.kernel(name);
    },

    launch(kernel, groups, groupSize, values) {
      enter();
      launcher.launch(kernel, groups, groupSize, values, addressOf);
    },

    finish() {
      enter();
      finish("copy");
      finish("compute");
      reader.finish();
    },

    close: release,
  };
}
