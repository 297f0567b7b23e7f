/**
 * Products by NVIDIA's cuBLAS, where it is installed: it comes with the CUDA toolkit and with PyTorch, not with the
 * driver. In float32: TensorFloat-32, which drops digits, is left off. One handle on one stream with a workspace of
 * its own is what cuBLAS gives equal results under, to the last bit, from run to run on the same GPU and version.
 */
import { libraryLoader } from "../driver-library.js";
import type { GpuFactor, GpuPointer, GpuProduct, GpuProductLibrary } from "../driver.js";
import { GpuKernelsError } from "../errors.js";
import type { ForeignFunction } from "../koffi.js";
import type { Lack } from "../lack.js";
import type { Address, Handle, Memory, Status } from "./library.js";
import { libraryVariable } from "./library.js";

export interface CublasFunctions {
  readonly create: (handle: Memory) => Status;
  readonly destroy: (handle: Handle) => Status;
  readonly setStream: (handle: Handle, stream: Handle) => Status;
  readonly setWorkspace: (handle: Handle, workspace: Address, bytes: number) => Status;
  readonly setMathMode: (handle: Handle, mode: number) => Status;
  /** Matrices lie column by column. */
  readonly multiply: (
    handle: Handle,
    leftOperation: number,
    rightOperation: number,
    m: number,
    n: number,
    k: number,
    alpha: Memory,
    left: Address,
    leftStride: number,
    right: Address,
    rightStride: number,
    beta: Memory,
    out: Address,
    outStride: number,
  ) => Status;
}

const declarations: Readonly<Record<keyof CublasFunctions, string>> = {
  create: "int cublasCreate_v2(void *)",
  destroy: "int cublasDestroy_v2(uint64_t)",
  setStream: "int cublasSetStream_v2(uint64_t, uint64_t)",
  setWorkspace: "int cublasSetWorkspace_v2(uint64_t, uint64_t, size_t)",
  setMathMode: "int cublasSetMathMode(uint64_t, int)",
  multiply:
    "int cublasSgemm_v2(uint64_t, int, int, int, int, int, void *, uint64_t, int, uint64_t, int, " +
    "void *, uint64_t, int)",
};

const variable = "HETEROSGD_CUBLAS";

const loadCublas = libraryLoader({
  names: ["13", "12", "11"].map((version) =>
    process.platform === "win32" ? `cublas64_${version}.dll` : `libcublas.so.${version}`,
  ),
  variable,
  remedy: "install the CUDA toolkit's libcublas",
  functionsOf(library: { func(definition: string): ForeignFunction }): CublasFunctions {
    const functions = Object.entries(declarations).map(([name, declaration]) => [
      name,
      library.func(declaration),
    ]);
    return Object.fromEntries(functions) as CublasFunctions;
  },
});

/** What was asked for: a library's file, the system's, or none. */
export type CublasChoice = string | boolean;

/**
 * What the option or else the environment says. A driver that was named is not the system's, nor is then its
 * cuBLAS.
 */
export function cublasChoice(
  option: CublasChoice | undefined,
  driverLibrary: string | undefined,
): CublasChoice {
  if (option !== undefined) return option;
  const named = process.env[variable];
  if (named === "off") return false;
  return named || !(driverLibrary || process.env[libraryVariable]);
}

export const mostWorkspaceBytes = 2 ** 25;

/** Bytes of the workspace: what NVIDIA recommends, by 10 · major + minor of the compute capability. */
export const workspaceBytes = (capability: number): number =>
  capability >= 90 ? mostWorkspaceBytes : 2 ** 22;

const DEFAULT_MATH = 0;
const [AS_IT_IS, TRANSPOSED] = [0, 1];
const ALLOC_FAILED = 3;

const statusNames: Readonly<Record<Status, string>> = {
  1: "NOT_INITIALIZED",
  3: "ALLOC_FAILED",
  7: "INVALID_VALUE",
  8: "ARCH_MISMATCH",
  11: "MAPPING_ERROR",
  13: "EXECUTION_FAILED",
  14: "INTERNAL_ERROR",
  15: "NOT_SUPPORTED",
  16: "LICENSE_ERROR",
};

const nameOf = (status: Status): string =>
  status in statusNames ? `CUBLAS_STATUS_${statusNames[status]}` : `status ${status}`;

export interface CublasPlace {
  /** As the driver names the device. */
  readonly device: string;
  readonly stream: Handle;
  /** Takes memory of the device, which is given back with all else. @throws GpuKernelsError GPU_MEMORY */
  readonly allocate: (bytes: number) => Address;
  readonly workBytes: number;
  readonly addressOf: (pointer: GpuPointer) => Address;
  /** Makes the device's context the thread's. @throws GpuKernelsError GPU_LOST */
  readonly enter: () => void;
  /** Waits for the stream. @throws GpuKernelsError GPU_LOST if the device is lost. */
  readonly finish: () => void;
  /** Gets what gives back what is taken here. */
  readonly taken: (() => void)[];
}

/**
 * Opens cuBLAS on a stream, or says why there is none.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE where a library that was named can't be used; GPU_MEMORY, GPU_LOST
 */
export function openCublas(
  choice: CublasChoice,
  place: CublasPlace,
): ({ readonly ok: true } & GpuProductLibrary) | Lack {
  const off = { ok: false, reason: "cuBLAS is off", remedy: `leave ${variable} out` } as const;
  if (choice === false) return off;
  const loaded = loadCublas(choice === true ? undefined : choice);
  const opened = loaded.ok ? open(loaded.functions, place) : loaded;
  if (opened.ok || choice === true) return opened;
  throw new GpuKernelsError(
    "GPU_UNAVAILABLE",
    `${place.device} has no cuBLAS: ${opened.reason}; ${opened.remedy}.`,
  );
}

function open(
  cublas: CublasFunctions,
  { device, stream, allocate, workBytes, addressOf, enter, finish, taken }: CublasPlace,
): ({ readonly ok: true } & GpuProductLibrary) | Lack {
  const made = new BigUint64Array(1);
  const status = cublas.create(made);
  if (status !== 0) {
    finish();
    return {
      ok: false,
      reason: `cublasCreate_v2 returns ${nameOf(status)}`,
      remedy: "install a version of cuBLAS that the driver is new enough for",
    };
  }
  const handle = made[0]!;
  taken.push(() => cublas.destroy(handle));

  function check(call: string, result: Status): void {
    if (result === 0) return;
    // Where work before has failed, the driver knows more.
    finish();
    const code = result === ALLOC_FAILED ? "GPU_MEMORY" : "GPU_DRIVER";
    throw new GpuKernelsError(code, `${device}: ${call} returns ${nameOf(result)}.`);
  }

  check("cublasSetStream_v2", cublas.setStream(handle, stream));
  const workspace = allocate(workBytes);
  check("cublasSetWorkspace_v2", cublas.setWorkspace(handle, workspace, workBytes));
  check("cublasSetMathMode", cublas.setMathMode(handle, DEFAULT_MATH));
  const alpha = new Float32Array(1);
  const beta = new Float32Array(1);

  return {
    ok: true,
    name: "cublas",
    workBytes,

    multiply({ rows, columns, inner, left, right, scale, kept, out }: GpuProduct): void {
      enter();
      alpha[0] = scale;
      beta[0] = kept;
      // What lies row by row is, column by column, the transpose: outᵀ = rightᵀ · leftᵀ.
      const first = matrixOf(right, inner, AS_IT_IS, TRANSPOSED);
      const second = matrixOf(left, inner, TRANSPOSED, AS_IT_IS);
      check(
        "cublasSgemm_v2",
        cublas.multiply(
          handle,
          first.operation,
          second.operation,
          columns,
          rows,
          inner,
          alpha,
          addressOf(right.place),
          first.stride,
          addressOf(left.place),
          second.stride,
          beta,
          addressOf(out),
          columns,
        ),
      );
    },
  };
}

/**
 * Of a factor: how it is to be taken where its own index, or the common one with `common` values, counts its rows.
 * A single column may lie as far from the next as it likes, but no nearer than it is long.
 */
function matrixOf(
  { stride, inner }: GpuFactor,
  common: number,
  ownRows: number,
  commonRows: number,
): { readonly operation: number; readonly stride: number } {
  return inner === 1
    ? { operation: commonRows, stride: Math.max(stride, common) }
    : { operation: ownRows, stride: inner };
}
