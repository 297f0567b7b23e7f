import { allocateBytes, unitBytes } from "./memory.js";

/** Work buffers of one kernels object. */
export interface Scratch {
  /** A new buffer: asked for bytes, it says where they are. It is kept, and grows when asked for more. */
  readonly buffer: () => (bytes: number) => number;
  /** Bytes taken from the memory so far. */
  readonly bytes: () => number;
}

/** What so many bytes take of the memory. */
export const toLines = (bytes: number): number => Math.ceil(bytes / unitBytes) * unitBytes;

/**
 * Makes buffers in a memory that can't be given anything back: what a buffer has outgrown is kept for
 * others that need as much or less.
 */
export function createScratch(memory: WebAssembly.Memory): Scratch {
  let taken = 0;
  const spare: { readonly address: number; readonly bytes: number }[] = [];

  function take(bytes: number): { readonly address: number; readonly bytes: number } {
    let best = -1;
    for (const [i, one] of spare.entries()) {
      if (one.bytes >= bytes && (best === -1 || one.bytes < spare[best]!.bytes)) best = i;
    }
    if (best !== -1) return spare.splice(best, 1)[0]!;
    const address = allocateBytes(memory, bytes);
    taken += bytes;
    return { address, bytes };
  }

  return {
    buffer() {
      let held = { address: 0, bytes: 0 };
      return (bytes) => {
        if (bytes > held.bytes) {
          const outgrown = held;
          held = take(toLines(bytes));
          if (outgrown.bytes > 0) spare.push(outgrown);
        }
        return held.address;
      };
    },
    bytes: () => taken,
  };
}
