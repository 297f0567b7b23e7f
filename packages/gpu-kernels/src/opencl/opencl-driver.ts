import type { GpuBuffer, GpuDriver, GpuKernel, GpuMark, GpuPointer, GpuQueue } from "../driver.js";
import { outOfMemory } from "../errors.js";
import { requireOpenClDevice, type OpenClDevice } from "./devices.js";
import { createStatusCheck, type StatusCheck } from "./failures.js";
import type { Handle, OpenClFunctions } from "./library.js";
import { createLauncher } from "./launcher.js";
import { buildProgram } from "./program.js";
import { createReader } from "./reader.js";

interface Buffer extends GpuBuffer {
  readonly handle: Handle;
}

interface Mark extends GpuMark {
  event: Handle | null;
}

/**
 * Opens the device of that index among those of `openclSupport()`, with queues and memory of its
 * own.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_DRIVER, GPU_MEMORY
 */
export function openOpenClDriver({
  index,
  library,
}: {
  readonly index: number;
  readonly library?: string | undefined;
}): GpuDriver {
  const { cl, device } = requireOpenClDevice(index, library);
  const check = createStatusCheck(device.info.name);
  const opened = open(cl, device.id, check);
  return driverOver(cl, { ...opened, check, device });
}

function open(cl: OpenClFunctions, id: Handle, check: StatusCheck) {
  const status = new Int32Array(1);
  const own = new Uint32Array(status.buffer);
  const made: (() => void)[] = [];
  try {
    const context = cl.createContext(null, 1, BigUint64Array.of(id), null, null, own);
    check("clCreateContext", status[0]!);
    made.push(() => cl.releaseContext(context));
    const [compute, copy] = ["compute", "copy"].map(() => {
      const queue = cl.createQueue(context, id, 0, own);
      check("clCreateCommandQueue", status[0]!);
      made.push(() => cl.releaseQueue(queue));
      return queue;
    }) as [Handle, Handle];
    const program = buildProgram(cl, context, id);
    made.push(() => cl.releaseProgram(program));
    return { context, compute, copy, program, release: () => releaseAll(made) };
  } catch (error) {
    releaseAll(made);
    throw error;
  }
}

function releaseAll(made: (() => void)[]): void {
  for (const release of made.toReversed()) release();
}

function driverOver(
  cl: OpenClFunctions,
  {
    context,
    compute,
    copy,
    program,
    release,
    check,
    device: { info, maxBufferBytes },
  }: ReturnType<typeof open> & {
    readonly check: StatusCheck;
    readonly device: OpenClDevice;
  },
): GpuDriver {
  const queues: Readonly<Record<GpuQueue, Handle>> = { compute, copy };
  const status = new Int32Array(1);
  const statusWord = new Uint32Array(status.buffer);
  const event = new BigUint64Array(1);
  const zero = new Uint32Array(1);
  const buffers = new Set<Buffer>();
  const marks: Mark[] = [];
  const launcher = createLauncher(cl, compute, check);
  const reader = createReader(cl, compute, check);
  let taken = 0;

  const handleOf = ({ buffer }: GpuPointer): Handle => (buffer as Buffer).handle;

  function freeBuffer(buffer: Buffer): void {
    if (!buffers.delete(buffer)) return;
    taken -= buffer.bytes;
    check("clReleaseMemObject", cl.releaseBuffer(buffer.handle));
  }

  return {
    technology: "opencl",
    name: info.name,
    kind: info.kind,
    products: null,
    maxBufferBytes,
    // OpenCL tells nothing of other programs' share.
    memory: () => ({ total: info.memory, free: null }),

    allocate(bytes) {
      const free = info.memory - taken;
      if (bytes > free) throw outOfMemory(info.name, bytes, free);
      const handle = cl.createBuffer(context, 1, Math.max(bytes, 4), null, statusWord);
      check("clCreateBuffer", status[0]!, { wanted: bytes, free });
      const buffer: Buffer = { bytes, handle };
      buffers.add(buffer);
      taken += bytes;
      return buffer;
    },

    free: (buffer) => freeBuffer(buffer as Buffer),

    clear(target, length) {
      if (length === 0) return;
      const bytes = 4 * length;
      check(
        "clEnqueueFillBuffer",
        cl.enqueueFill(compute, handleOf(target), zero, 4, 4 * target.offset, bytes, 0, null, null),
        { wanted: bytes, free: info.memory - taken },
      );
    },

    write(source, target, queue) {
      if (source.length === 0) return;
      const { byteLength } = source;
      const handle = handleOf(target);
      const place = 4 * target.offset;
      check(
        "clEnqueueWriteBuffer",
        cl.enqueueWrite(queues[queue], handle, 1, place, byteLength, source, 0, null, null),
        { wanted: byteLength, free: info.memory - taken },
      );
    },

    read: (source, target) => reader.read(handleOf(source), source.offset, target),

    createMark() {
      const mark: Mark = { mark: marks.length, event: null };
      marks.push(mark);
      return mark;
    },

    record(mark, queue) {
      const own = mark as Mark;
      check("clEnqueueMarkerWithWaitList", cl.enqueueMarker(queues[queue], 0, null, event));
      if (own.event !== null) cl.releaseEvent(own.event);
      own.event = event[0]!;
      // What another queue waits for has to be on its way.
      check("clFlush", cl.flush(queues[queue]));
    },

    wait(mark, queue) {
      const own = mark as Mark;
      if (own.event === null) return;
      event[0] = own.event;
      check("clEnqueueBarrierWithWaitList", cl.enqueueBarrier(queues[queue], 1, event, null));
    },

    kernel: (name) => launcher.kernel(program, name),
    launch: (kernel: GpuKernel, groups, groupSize, values) =>
      launcher.launch(kernel, groups, groupSize, values, handleOf),

    finish() {
      check("clFinish", cl.finish(copy));
      check("clFinish", cl.finish(compute));
    },

    close() {
      // What fails here fails because the device is lost, and there is nothing to be done about it.
      cl.finish(copy);
      cl.finish(compute);
      reader.close();
      launcher.close();
      for (const { event: own } of marks) if (own !== null) cl.releaseEvent(own);
      for (const { handle } of buffers) cl.releaseBuffer(handle);
      buffers.clear();
      release();
    },
  };
}
