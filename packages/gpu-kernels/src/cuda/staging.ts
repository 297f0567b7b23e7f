import type { Koffi } from "../koffi.js";
import type { StatusCheck } from "./failures.js";
import { EVENT_DISABLE_TIMING, type Address, type CudaFunctions, type Handle } from "./library.js";

/** Larger writes go straight from the caller's memory, and return when the driver has read it. */
export const segmentBytes = 2 ** 20;
const segments = 4;

/**
 * Uploads on their way while the caller does other things: from memory that the driver keeps in its
 * place, which they are copied to first. It is used segment by segment, round and round; before one is
 * written to again, the copies from it have to be done.
 */
export function createStaging(
  cuda: CudaFunctions,
  koffi: Koffi,
  {
    stream,
    check,
    taken,
  }: {
    readonly stream: Handle;
    readonly check: StatusCheck;
    /** Gets what gives back what is taken here. */
    readonly taken: (() => void)[];
  },
) {
  const handle = new BigUint64Array(1);
  check("cuMemHostAlloc", cuda.allocateHost(handle, segments * segmentBytes, 0));
  const begin = handle[0]!;
  taken.push(() => cuda.freeHost(begin));
  const memory = new Uint8Array(koffi.view(begin, segments * segmentBytes));
  const events = Array.from({ length: segments }, () => {
    check("cuEventCreate", cuda.createEvent(handle, EVENT_DISABLE_TIMING));
    const event = handle[0]!;
    taken.push(() => cuda.destroyEvent(event));
    return event;
  });
  let segment = 0;
  let used = 0;

  function nextSegment(): void {
    check("cuEventRecord", cuda.recordEvent(events[segment]!, stream));
    segment = (segment + 1) % segments;
    used = 0;
    check("cuEventSynchronize", cuda.finishEvent(events[segment]!));
  }

  return {
    write(source: Uint32Array | Float32Array, target: Address): void {
      const { byteLength } = source;
      if (byteLength > segmentBytes) {
        check("cuMemcpyHtoDAsync_v2", cuda.fromHost(target, source, byteLength, stream));
        return;
      }
      if (used + byteLength > segmentBytes) nextSegment();
      const at = segment * segmentBytes + used;
      memory.set(new Uint8Array(source.buffer, source.byteOffset, byteLength), at);
      used += byteLength;
      check("cuMemcpyHtoDAsync_v2", cuda.fromHost(target, begin + BigInt(at), byteLength, stream));
    },
  };
}
