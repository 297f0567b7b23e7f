import type { ParameterLayout, UpdateRule } from "@heterosgd/model";
import { lessMemory, mebibytes } from "../checks.js";
import { CpuKernelsError } from "../errors.js";
import { loadAddon } from "./addon.js";
import { instructionSets, nativeSettings, type NativeKernelsOptions } from "./native-support.js";

const floatBytes = Float32Array.BYTES_PER_ELEMENT;
const cacheLine = 64;
const hugePage = 2 ** 21;

/**
 * Zeroed float32 elements in shared memory, aligned to cache lines; from 2 MiB on aligned to huge
 * pages and on them where the system grants them. Every page is touched, so that no later use pays
 * for a fresh one. Without the addon they are ordinary shared memory.
 *
 * @throws CpuKernelsError KERNEL_ARGUMENT, KERNEL_MEMORY
 */
export function allocateOnHugePages(length: number): Float32Array {
  if (!Number.isSafeInteger(length) || length < 0) {
    throw new CpuKernelsError(
      "KERNEL_ARGUMENT",
      `The length is ${length}, expected a whole number of elements.`,
    );
  }
  const bytes = length * floatBytes;
  const alignment = bytes >= hugePage ? hugePage : cacheLine;
  const loaded = loadAddon();
  // Both constructors have limits of the engine's.
  try {
    if (!loaded.ok) return new Float32Array(new SharedArrayBuffer(bytes));
    const buffer = new SharedArrayBuffer(bytes + alignment);
    const place = loaded.addon.placeOf(new Float32Array(buffer, 0, 1)) % alignment;
    const array = new Float32Array(buffer, (alignment - place) % alignment, length);
    loaded.addon.settle(array);
    return array;
  } catch (cause) {
    throw new CpuKernelsError(
      "KERNEL_MEMORY",
      `${mebibytes(bytes)} of shared memory can't be had: ${lessMemory}.`,
      { cause },
    );
  }
}

/**
 * Bytes that such kernels come to keep for their own work (batches, panels, kept exponentials):
 * what they hold after steps of the largest size and rankings of ten classes a row. What they hold
 * after smaller ones is at most a few percent more; steps of micro-batches are not counted, of which
 * every thread has its own.
 *
 * @throws CpuKernelsError NATIVE_UNAVAILABLE, ISA_UNSUPPORTED, KERNEL_ARGUMENT
 */
export function nativeKernelsBytes(
  layout: ParameterLayout,
  limits: {
    readonly maxRows: number;
    readonly maxNonZeros: number;
    readonly maxLabels: number;
    readonly optimizer: UpdateRule | null;
    readonly options: NativeKernelsOptions;
  },
): number {
  const { addon, threads, isa, bf16, keptBytes } = nativeSettings(
    "nativeKernelsBytes",
    limits.options,
  );
  const { features, hidden, labels } = layout.shape;
  return addon.plannedBytes(
    threads,
    instructionSets.indexOf(isa),
    bf16,
    keptBytes,
    limits.maxRows,
    limits.maxNonZeros,
    limits.maxLabels,
    limits.optimizer !== null,
    features,
    ...hidden,
    labels,
  );
}
