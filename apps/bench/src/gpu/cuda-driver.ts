/** What is asked of CUDA's driver here, beside what the kernels ask of it. */
import koffi, { type LibraryHandle } from "koffi";

/** What the stand-in for the driver (packages/gpu-kernels/stand-in) says of itself. */
export interface StandInUse {
  readonly contexts: number;
  /** Of device memory that is taken. */
  readonly bytes: number;
}

export interface CudaDriver {
  /** An attribute by its number in cuda.h; null where the driver has none or fails. */
  readonly attribute: (ordinal: number, attribute: number) => number | null;
  readonly deviceCount: () => number;
  /** Bytes of the device's memory that are taken by anybody, in the calling thread's context. */
  readonly takenBytes: () => number | null;
  /** Null of a real driver. */
  readonly standInUse: (() => StandInUse) | null;
}

const systemNames = process.platform === "win32" ? ["nvcuda.dll"] : ["libcuda.so.1", "libcuda.so"];

/** The library that the kernels use as well, null where there is none or it does not begin. */
export function openCudaDriver(): CudaDriver | null {
  const named = process.env["HETEROSGD_CUDA_LIBRARY"];
  const library = firstOf(named ? [named] : systemNames);
  if (library === null) return null;
  const init = library.func("int cuInit(uint32_t)");
  const count = library.func("int cuDeviceGetCount(void *)");
  const device = library.func("int cuDeviceGet(void *, int)");
  const attribute = library.func("int cuDeviceGetAttribute(void *, int, int)");
  const memoryInfo = library.func("int cuMemGetInfo_v2(void *, void *)");
  if (init(0) !== 0) return null;
  const value = new Int32Array(1);
  const handle = new Int32Array(1);
  return {
    deviceCount: () => (count(value) === 0 ? value[0]! : 0),
    attribute(ordinal, which) {
      if (device(handle, ordinal) !== 0) return null;
      return attribute(value, which, handle[0]!) === 0 ? value[0]! : null;
    },
    takenBytes() {
      const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
      return memoryInfo(free, total) === 0 ? Number(total[0]! - free[0]!) : null;
    },
    standInUse: standInOf(library),
  };
}

function firstOf(names: readonly string[]): LibraryHandle | null {
  for (const name of names) {
    try {
      return koffi.load(name);
    } catch {
      // The next name may be the one.
    }
  }
  return null;
}

function standInOf(library: LibraryHandle): (() => StandInUse) | null {
  try {
    const use = library.func("uint64_t standInUse(int)") as (what: number) => number | bigint;
    return () => ({ contexts: Number(use(0)), bytes: Number(use(1)) });
  } catch {
    return null;
  }
}
