import type { GpuBuffer, GpuDriver, GpuPointer } from "../driver.js";

/** A buffer that is made at first use, grows to the largest size asked for, and is kept. */
export type ScratchBuffer = (words: number) => GpuPointer;

/** The kernels' own memory on the device. */
export interface Scratch {
  readonly buffer: () => ScratchBuffer;
  /** Bytes taken so far. */
  readonly bytes: () => number;
}

export function createScratch(driver: GpuDriver): Scratch {
  let taken = 0;
  return {
    buffer() {
      let held: GpuBuffer | undefined;
      return (words) => {
        const bytes = 4 * words;
        if (held !== undefined && held.bytes >= bytes) return { buffer: held, offset: 0 };
        if (held !== undefined) {
          taken -= held.bytes;
          driver.free(held);
          held = undefined;
        }
        held = driver.allocate(bytes);
        taken += held.bytes;
        return { buffer: held, offset: 0 };
      };
    },
    bytes: () => taken,
  };
}
