import type { Koffi } from "../koffi.js";
import type { StatusCheck } from "./failures.js";
import { EVENT_DISABLE_TIMING, type Address, type CudaFunctions, type Handle } from "./library.js";

/** Bytes up to which the calling thread goes on with other things while it waits. */
export const stagedBytes = 2 ** 16;

const NOT_READY = 600;

/**
 * Copies from the device. Short ones take a way over memory that the driver keeps in its place, and the
 * event loop asks now and then whether they are done: the driver's calls that wait would block it, and
 * on another thread they would need this one's context.
 */
export function createReader(
  cuda: CudaFunctions,
  koffi: Koffi,
  {
    stream,
    check,
    enter,
    taken,
  }: {
    readonly stream: Handle;
    readonly check: StatusCheck;
    /** Makes the context the thread's. @throws GpuKernelsError GPU_LOST */
    readonly enter: () => void;
    /** Gets what gives back what is taken here. */
    readonly taken: (() => void)[];
  },
) {
  const handle = new BigUint64Array(1);
  check("cuMemHostAlloc", cuda.allocateHost(handle, stagedBytes, 0));
  const begin = handle[0]!;
  taken.push(() => cuda.freeHost(begin));
  const staged = new Uint8Array(koffi.view(begin, stagedBytes));
  check("cuEventCreate", cuda.createEvent(handle, EVENT_DISABLE_TIMING));
  const event = handle[0]!;
  taken.push(() => cuda.destroyEvent(event));

  /** Hands over what a read that is under way waits for. */
  let deliver: (() => void) | undefined;
  taken.push(() => {
    if (cuda.finishEvent(event) === 0) deliver?.();
  });

  function readStaged(source: Address, target: Uint32Array | Float32Array): Promise<void> {
    const { buffer, byteOffset, byteLength } = target;
    check("cuMemcpyDtoHAsync_v2", cuda.toHost(begin, source, byteLength, stream));
    check("cuEventRecord", cuda.recordEvent(event, stream));
    return new Promise((resolve, reject) => {
      const deliverThis = () => {
        deliver = undefined;
        new Uint8Array(buffer, byteOffset, byteLength).set(staged.subarray(0, byteLength));
        resolve();
      };
      const poll = () => {
        if (deliver !== deliverThis) return;
        try {
          enter();
          const status = cuda.queryEvent(event);
          if (status === NOT_READY) {
            setImmediate(poll);
            return;
          }
          check("cuEventQuery", status);
          deliver();
        } catch (error) {
          deliver = undefined;
          reject(error);
        }
      };
      deliver = deliverThis;
      setImmediate(poll);
    });
  }

  return {
    read(source: Address, target: Uint32Array | Float32Array): void | Promise<void> {
      const { byteLength } = target;
      if (byteLength <= stagedBytes && deliver === undefined) return readStaged(source, target);
      check("cuMemcpyDtoHAsync_v2", cuda.toHost(target, source, byteLength, stream));
      check("cuStreamSynchronize", cuda.finishStream(stream));
    },

    /** To be called when the stream is done with all. */
    finish: () => deliver?.(),
  };
}
