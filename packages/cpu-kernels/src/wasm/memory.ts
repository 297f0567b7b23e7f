/**
 * Shared memory that several threads take arrays from. A header of one cache line says what it is:
 * a magic number and a random id, where free memory begins, and a counter that tells two copies of
 * a memory apart.
 */
import { lessMemory, mebibytes } from "../checks.js";
import { CpuKernelsError } from "../errors.js";

const pageBytes = 65_536;
const maximumPages = 65_536;
/** Arrays begin on cache lines. */
export const unitBytes = 64;
/** Room in one memory. The last page stays free: no address past an array's end may wrap to 0. */
export const wasmMemoryBytes = (maximumPages - 1) * pageBytes;

/** Elements of the header, as 32-bit integers. */
const magicAt = 0;
const idAt = 1;
/** First free unit. */
const freeAt = 3;
const challengeAt = 4;
const magic = 0x4b_48_73_67;

/**
 * Shared memory that grows as arrays are taken from it, up to 4 GiB (less one page of 64 KiB).
 *
 * @throws CpuKernelsError KERNEL_MEMORY where the system does not even grant the addresses.
 */
export function createWasmMemory(): WebAssembly.Memory {
  const memory = newMemory();
  const header = headerOf(memory.buffer);
  crypto.getRandomValues(new Uint8Array(8)).forEach((byte, i) => {
    header[idAt + (i >> 2)]! |= byte << (8 * (i & 3));
  });
  header[freeAt] = 1;
  Atomics.store(header, magicAt, magic);
  return memory;
}

function newMemory(): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: 1, maximum: maximumPages, shared: true });
  } catch (cause) {
    throw new CpuKernelsError(
      "KERNEL_MEMORY",
      "the system grants no room for a WebAssembly memory, which takes addresses for 4 GiB: " +
        "raise the limit on the process's address space (ulimit -v), or use native kernels",
      { cause },
    );
  }
}

function headerOf(buffer: ArrayBufferLike): Int32Array {
  return new Int32Array(buffer, 0, unitBytes / 4);
}

/**
 * Takes `length` zeroed float32 elements, aligned to 64 bytes, from a memory that kernels share.
 * Any thread may, at any time; arrays taken earlier stay valid. Nothing can be given back.
 *
 * @throws CpuKernelsError KERNEL_ARGUMENT if `length` is no length or the memory was not made by
 * `createWasmMemory`; KERNEL_MEMORY beyond 4 GiB, or where the system grants no more.
 */
export function allocateInWasmMemory(memory: WebAssembly.Memory, length: number): Float32Array {
  checkMemory(memory);
  checkLength(length);
  const address = allocateBytes(memory, length * Float32Array.BYTES_PER_ELEMENT);
  return new Float32Array(memory.buffer, address, length);
}

/** @throws CpuKernelsError KERNEL_ARGUMENT */
function checkLength(length: number): void {
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new CpuKernelsError(
      "KERNEL_ARGUMENT",
      `allocate: the length is ${String(length)}, expected a whole number of elements`,
    );
  }
}

/** @throws CpuKernelsError KERNEL_ARGUMENT unless `createWasmMemory` made it, in whatever thread. */
export function checkMemory(memory: WebAssembly.Memory): void {
  if (!(memory instanceof WebAssembly.Memory) || !isOurs(memory.buffer)) {
    throw new CpuKernelsError(
      "KERNEL_ARGUMENT",
      "the memory was not made by createWasmMemory, which kernels need to share it",
    );
  }
}

function isOurs(buffer: ArrayBufferLike): boolean {
  if (!(buffer instanceof SharedArrayBuffer) || buffer.byteLength < pageBytes) return false;
  return headerOf(buffer)[magicAt] === magic;
}

/** Takes zeroed bytes and returns their address, a multiple of 64. */
export function allocateBytes(memory: WebAssembly.Memory, bytes: number): number {
  const header = headerOf(memory.buffer);
  const units = Math.ceil(bytes / unitBytes);
  for (;;) {
    const free = Atomics.load(header, freeAt);
    const end = (free + units) * unitBytes;
    if (end > wasmMemoryBytes) {
      throw new CpuKernelsError(
        "KERNEL_MEMORY",
        `${mebibytes(bytes)} can't be taken from a WebAssembly memory of at most ${mebibytes(wasmMemoryBytes)}, ` +
          `of which ${mebibytes(free * unitBytes)} are in use: ${lessMemory}, or native kernels`,
      );
    }
    growTo(memory, end);
    if (Atomics.compareExchange(header, freeAt, free, free + units) === free) {
      return free * unitBytes;
    }
  }
}

/** Two threads that grow it at once may both add their part: it costs addresses, no memory. */
function growTo(memory: WebAssembly.Memory, bytes: number): void {
  for (let size = sizeOf(memory, bytes); size < bytes; size = sizeOf(memory, bytes)) {
    try {
      memory.grow(Math.ceil((bytes - size) / pageBytes));
    } catch (cause) {
      // Another thread may have been faster.
      if (sizeOf(memory, bytes) > size) continue;
      throw new CpuKernelsError(
        "KERNEL_MEMORY",
        `the system does not let a WebAssembly memory grow from ${mebibytes(size)} to ${mebibytes(bytes)}: ${lessMemory}`,
        { cause },
      );
    }
  }
}

/** The memory's size; if that seems too small, as other threads may have grown it. */
function sizeOf(memory: WebAssembly.Memory, needed: number): number {
  const { byteLength } = memory.buffer;
  return byteLength >= needed ? byteLength : memory.grow(0) * pageBytes;
}

/**
 * Finds out where arrays lie in a memory. A buffer that was posted or that is older than the last
 * growth is another object for the same memory: which it is, is found out once for each.
 */
export function createLocator(
  memory: WebAssembly.Memory,
): (array: Float32Array) => number | undefined {
  const own = headerOf(memory.buffer);
  const known = new WeakSet<ArrayBufferLike>();
  let last: ArrayBufferLike = memory.buffer;
  known.add(last);
  let size = last.byteLength;

  /** Whether a change here shows there. Copies have the same id, and don't change. */
  function isSameMemory(buffer: ArrayBufferLike): boolean {
    if (!isOurs(buffer)) return false;
    const other = headerOf(buffer);
    if (other[idAt] !== own[idAt] || other[idAt + 1] !== own[idAt + 1]) return false;
    const before = Atomics.load(other, challengeAt);
    Atomics.add(own, challengeAt, 1);
    return Atomics.load(other, challengeAt) !== before;
  }

  return (array) => {
    const { buffer, byteOffset } = array;
    if (buffer !== last) {
      if (!known.has(buffer)) {
        if (!isSameMemory(buffer)) return undefined;
        known.add(buffer);
      }
      last = buffer;
    }
    // This thread's instance has to know of growth elsewhere before it may reach there.
    if (byteOffset + array.byteLength > size) size = sizeOf(memory, byteOffset + array.byteLength);
    return byteOffset;
  };
}
