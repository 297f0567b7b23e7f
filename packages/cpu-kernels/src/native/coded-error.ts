import { CpuKernelsError, type CpuKernelsErrorCode } from "../errors.js";

const codes: ReadonlySet<string> = new Set<CpuKernelsErrorCode>([
  "KERNEL_ARRAY",
  "KERNEL_BATCH",
  "KERNEL_ARGUMENT",
  "KERNEL_MEMORY",
  "KERNEL_DISPOSED",
  "ISA_UNSUPPORTED",
]);

/** What the addon threw, as an error of this package. */
export function coded(error: unknown): unknown {
  if (error instanceof CpuKernelsError || !(error instanceof Error) || !("code" in error))
    return error;
  const { code, message } = error;
  if (typeof code !== "string" || !codes.has(code)) return error;
  return new CpuKernelsError(code as CpuKernelsErrorCode, `${message}.`, { cause: error });
}
