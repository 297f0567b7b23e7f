/** What a GPU can do at most, as computed from what its driver says of clocks and widths. */
import type { CudaDriver } from "./cuda-driver.js";

/** Of float32 without tensor cores; null where the driver does not say enough. */
export interface Peaks {
  readonly gigaflops: number | null;
  /** Bytes a second of the device's memory, in 10⁹. */
  readonly gigabytes: number | null;
}

/** As the driver has them. */
export interface GpuAttributes {
  /** 10 · major + minor. */
  readonly capability: number;
  readonly multiprocessors: number | null;
  /** Kilohertz. */
  readonly clock: number | null;
  readonly memoryClock: number | null;
  /** Bits. */
  readonly busWidth: number | null;
}

/** Their numbers in cuda.h. */
const numbers = {
  clock: 13,
  multiprocessors: 16,
  memoryClock: 36,
  busWidth: 37,
  major: 75,
  minor: 76,
} as const;

/** The kernels run on these and newer ones (Turing). */
const LEAST_CAPABILITY = 75;

/**
 * Lanes of a multiprocessor that multiply and add float32, by compute capability: the table "Throughput of Native
 * Arithmetic Instructions" of the CUDA C++ Programming Guide.
 */
const lanes: Readonly<Record<number, number>> = {
  75: 64,
  80: 64,
  86: 128,
  87: 128,
  89: 128,
  90: 128,
  100: 128,
  103: 128,
  110: 128,
  120: 128,
  121: 128,
};

/** A multiplication and an addition. */
const OPERATIONS_A_CYCLE = 2;
/** Memory sends at both edges of its clock. */
const TRANSFERS_A_CYCLE = 2;

/** What the driver says of the devices that the kernels can use, in their order. */
export function gpuAttributes(driver: CudaDriver): readonly GpuAttributes[] {
  return Array.from({ length: driver.deviceCount() }, (_, ordinal) => {
    const of = (name: keyof typeof numbers) => driver.attribute(ordinal, numbers[name]);
    return {
      capability: 10 * (of("major") ?? 0) + (of("minor") ?? 0),
      multiprocessors: of("multiprocessors"),
      clock: of("clock"),
      memoryClock: of("memoryClock"),
      busWidth: of("busWidth"),
    };
  }).filter(({ capability }) => capability >= LEAST_CAPABILITY);
}

export function peaksOf(attributes: GpuAttributes): Peaks {
  const { capability, multiprocessors, clock, memoryClock, busWidth } = attributes;
  const cores = product(multiprocessors, lanes[capability] ?? null);
  const operations = product(cores, clock);
  const bits = product(memoryClock, busWidth);
  return {
    gigaflops: operations === null ? null : (OPERATIONS_A_CYCLE * operations) / 1e6,
    gigabytes: bits === null ? null : (TRANSFERS_A_CYCLE * bits) / 8 / 1e6,
  };
}

/** Null where a factor is unknown; drivers say 0 for what they don't tell. */
function product(a: number | null, b: number | null): number | null {
  return a === null || b === null || a === 0 || b === 0 ? null : a * b;
}
