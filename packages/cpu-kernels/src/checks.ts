/** Checks of arguments that both kinds of kernels make, and the errors about them. */
import { createKernelChecks } from "@heterosgd/model";
import { CpuKernelsError, type CpuKernelsErrorCode } from "./errors.js";

export function fail(code: CpuKernelsErrorCode, operation: string, message: string): never {
  throw new CpuKernelsError(code, `${operation}: ${message}`);
}

export const {
  whole,
  finite,
  hostArray,
  requireObject,
  checkOptions,
  numberOf,
  stateEntries,
  ruleNumbers,
  batchArrays,
  batchOffsets,
  batchEntries,
} = createKernelChecks(fail);

/** `bytes` for people. */
export const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

/** What to do where memory runs short. */
export const lessMemory = "use smaller batches, fewer devices or fewer hidden units";
