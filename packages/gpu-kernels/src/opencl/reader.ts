import { loadKoffi } from "../koffi.js";
import type { StatusCheck } from "./failures.js";
import type { Handle, OpenClFunctions } from "./library.js";

/**
 * Bytes up to which the calling thread goes on with other things while it waits. They take a way
 * over memory that stays where it is meanwhile.
 */
const stagingBytes = 2 ** 16;

/** Copies from the device. */
export function createReader(cl: OpenClFunctions, queue: Handle, check: StatusCheck) {
  const loaded = loadKoffi();
  if (!loaded.ok) throw new Error(loaded.reason);
  const { koffi } = loaded;
  const staging = koffi.alloc("uint8_t", stagingBytes) as bigint;
  const staged = koffi.view(staging, stagingBytes);
  let busy = false;
  let closed = false;

  function readStaged(
    source: Handle,
    offset: number,
    target: Uint32Array | Float32Array,
  ): Promise<void> {
    const { byteLength } = target;
    // The call that waits may outlast this one's next, so that each has events of its own.
    const event = new BigUint64Array(1);
    check(
      "clEnqueueReadBuffer",
      cl.enqueueRead(queue, source, 0, 4 * offset, byteLength, staging, 0, null, event),
    );
    check("clFlush", cl.flush(queue));
    busy = true;
    return new Promise((resolve, reject) => {
      cl.waitForEventsLater(1, event, (error, status) => {
        busy = false;
        try {
          cl.releaseEvent(event[0]!);
          if (error !== null && error !== undefined) throw error as Error;
          check("clWaitForEvents", status);
          const floats = target instanceof Float32Array;
          target.set(
            floats
              ? new Float32Array(staged, 0, target.length)
              : new Uint32Array(staged, 0, target.length),
          );
          resolve();
        } catch (failure) {
          reject(failure);
        } finally {
          if (closed) koffi.free(staging);
        }
      });
    });
  }

  return {
    read(source: Handle, offset: number, target: Uint32Array | Float32Array): void | Promise<void> {
      const { byteLength } = target;
      if (byteLength === 0) return;
      if (byteLength <= stagingBytes && !busy) return readStaged(source, offset, target);
      check(
        "clEnqueueReadBuffer",
        cl.enqueueRead(queue, source, 1, 4 * offset, byteLength, target, 0, null, null),
      );
    },

    close(): void {
      closed = true;
      if (!busy) koffi.free(staging);
    },
  };
}
