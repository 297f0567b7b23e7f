import type { ParameterLayout, UpdateRule } from "@heterosgd/model";
import { CpuKernelsError } from "../errors.js";
import { coded } from "./coded-error.js";
import { loadAddon, type Addon } from "./addon.js";
import { instructionSets, nativeSettings, type NativeKernelsOptions } from "./native-support.js";

const floatBytes = Float32Array.BYTES_PER_ELEMENT;
const cacheLine = 64;
const hugePage = 2 ** 21;

/**
 * Zeroed float32 elements in shared memory, aligned to cache lines; from 2 MiB on aligned to huge
 * pages and on them where the system grants them (without the addon, wherever the engine puts
 * them). Every page is touched, so that no later use pays for a fresh one.
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
  if (!loaded.ok) return new Float32Array(sharedBytes(bytes), 0, length);
  const buffer = sharedBytes(bytes + alignment);
  return settled(loaded.addon, buffer, alignment, length);
}

function settled(
  addon: Addon,
  buffer: SharedArrayBuffer,
  alignment: number,
  length: number,
): Float32Array {
  const place = addon.placeOf(new Float32Array(buffer, 0, 1)) % alignment;
  const array = new Float32Array(buffer, (alignment - place) % alignment, length);
  addon.settle(array);
  return array;
}

function sharedBytes(bytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (cause) {
    throw new CpuKernelsError("KERNEL_MEMORY", `${bytes} bytes of shared memory can't be had.`, {
      cause,
    });
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
  const { addon, threads, isa, bf16, keptBytes } = nativeSettings(limits.options);
  const { features, hidden, labels } = layout.shape;
  try {
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
  } catch (error) {
    throw coded(error);
  }
}
