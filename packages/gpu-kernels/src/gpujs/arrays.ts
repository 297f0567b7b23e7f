/**
 * Arrays that lie in host memory and on the device by turns.
 *
 * An allocation is one array in host memory. The parts of it that kernels work on are besides cut into blocks on
 * the device, and stay there: whichever side wrote a part last has its values, and the other gets them when it
 * asks. Kernels use the same parts in every step, so that what is copied after the first one is what was asked
 * for.
 */
import { fail } from "../checks.js";
import { GpuKernelsError } from "../errors.js";
import * as placed from "../placed-arrays.js";
import type { Block, Computer } from "./computer.js";
import { ceilDivide, sumElements } from "./sizes.js";

/** Where an array lies. */
export interface Place {
  readonly storage: Storage;
  readonly start: number;
  readonly length: number;
}

interface Storage {
  readonly host: Float32Array;
  /** Parts that lie on the device, none over another. */
  parts: DevicePart[];
}

interface DevicePart {
  readonly start: number;
  readonly length: number;
  /** Elements of each block, but for the last. */
  readonly blockLength: number;
  readonly blocks: Block[];
  /** Whether the host's elements are those of before. */
  isAhead: boolean;
}

export type LayerPlaces = placed.LayerPlaces<Place>;
export type LayerPlace = placed.LayerPlace<Place>;

export interface Arrays extends placed.PlacedArrays<Place> {
  /** The elements in host memory, to be read. */
  readonly onHost: (place: Place) => Float32Array;
  /** The elements in host memory, to be changed. */
  readonly changeOnHost: (place: Place) => Float32Array;
  /** Room for the elements in host memory, all of which the caller writes. */
  readonly replaceOnHost: (place: Place) => Float32Array;
  /** The first `length` elements in blocks of `blockLength`. They stay the array's. */
  readonly onDevice: (place: Place, length: number, blockLength: number) => readonly Block[];
  /** Makes these blocks the first `length` elements; what lies behind them in `place` may be lost. */
  readonly replace: (
    place: Place,
    length: number,
    blockLength: number,
    blocks: readonly Block[],
  ) => void;
  /**
   * Frees what was taken off the device, which an operation may still work with that takes parts which overlap.
   * Called between operations.
   */
  readonly settle: () => void;
  /** Notes what is allocated from now on; the result takes that off the device. */
  readonly note: () => () => void;
  /** Makes this block, of the same length, the `index`th that `onDevice` gave. */
  readonly replaceBlock: (place: Place, blockLength: number, index: number, block: Block) => void;
}

export function createArrays(computer: Computer): Arrays {
  let noted: Storage[] | undefined;
  const retired: Block[] = [];

  function take(length: number): Place {
    let host: Float32Array;
    try {
      host = new Float32Array(length);
    } catch (error) {
      const wanted = Math.ceil(length / 2 ** 18);
      const message = `host memory has no room for an array of ${wanted} MiB: use fewer hidden units.`;
      throw new GpuKernelsError("GPU_MEMORY", message, { cause: error });
    }
    const storage: Storage = { host, parts: [] };
    noted?.push(storage);
    return { storage, start: 0, length };
  }

  function fetch(storage: Storage, part: DevicePart): void {
    if (!part.isAhead) return;
    const { start, length, blockLength } = part;
    for (const [i, block] of part.blocks.entries()) {
      const from = start + i * blockLength;
      computer.read(
        block,
        storage.host.subarray(from, Math.min(from + blockLength, start + length)),
      );
    }
    part.isAhead = false;
  }

  const overlaps = (a: { start: number; length: number }, b: { start: number; length: number }) =>
    a.start < b.start + b.length && b.start < a.start + a.length;

  /** Takes what overlaps `place` off the device; of what lies within `lost`, the values are lost. */
  function drop({ storage, start, length }: Place, lost: Omit<Place, "storage">): void {
    if (!storage.parts.some((part) => overlaps(part, { start, length }))) return;
    storage.parts = storage.parts.filter((part) => {
      if (!overlaps(part, { start, length })) return true;
      const isLost =
        part.start >= lost.start && part.start + part.length <= lost.start + lost.length;
      if (!isLost) fetch(storage, part);
      retired.push(...part.blocks);
      return false;
    });
  }

  const within = ({ storage, start, length }: Place): Float32Array =>
    storage.host.subarray(start, start + length);

  const nothing = { start: 0, length: 0 };

  const find = ({ storage, start }: Place, length: number, blockLength: number) =>
    storage.parts.find(
      (part) => part.start === start && part.length === length && part.blockLength === blockLength,
    );

  return {
    ...placed.createPlacedArrays<Place>(take, ({ storage, start }, from, length) => ({
      storage,
      start: start + from,
      length,
    })),

    onHost(own) {
      for (const part of own.storage.parts) if (overlaps(part, own)) fetch(own.storage, part);
      return within(own);
    },

    changeOnHost(own) {
      drop(own, nothing);
      return within(own);
    },

    replaceOnHost(own) {
      drop(own, own);
      return within(own);
    },

    onDevice(own, length, wished) {
      const blockLength = Math.min(wished, length);
      const found = find(own, length, blockLength);
      if (found !== undefined) return found.blocks;
      const { storage, start } = own;
      drop({ storage, start, length }, nothing);
      const blocks = Array.from({ length: ceilDivide(length, blockLength) }, (_, i) => {
        const from = start + i * blockLength;
        const end = Math.min(from + blockLength, start + length);
        return computer.upload(storage.host.subarray(from, end));
      });
      storage.parts.push({ start, length, blockLength, blocks, isAhead: false });
      return blocks;
    },

    replace(own, length, wished, blocks) {
      const { storage, start } = own;
      drop({ storage, start, length }, own);
      const blockLength = Math.min(wished, length);
      storage.parts.push({ start, length, blockLength, blocks: [...blocks], isAhead: true });
    },

    settle() {
      computer.free(...retired.splice(0));
    },

    note() {
      const own: Storage[] = (noted = []);
      return () => {
        if (noted === own) noted = undefined;
        for (const storage of own)
          drop({ storage, start: 0, length: storage.host.length }, nothing);
      };
    },

    replaceBlock(own, wished, index, block) {
      const part = find(own, own.length, Math.min(wished, own.length))!;
      computer.free(part.blocks[index]);
      part.blocks[index] = block;
      part.isAhead = true;
    },
  };
}

/** Refuses layers of more units than an inner sum has terms. */
export function checkUnits(operation: string, name: string, units: number): void {
  if (units <= sumElements) return;
  const message = `${name} is ${units}, gpu.js sums at most ${sumElements} terms`;
  fail("KERNEL_ARGUMENT", operation, message);
}
