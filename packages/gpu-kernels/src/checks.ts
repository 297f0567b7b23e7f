/** Checks of arguments, and the errors about them. */
import { createKernelChecks } from "@heterosgd/model";
import { GpuKernelsError, type GpuKernelsErrorCode } from "./errors.js";

export function fail(code: GpuKernelsErrorCode, operation: string, message: string): never {
  throw new GpuKernelsError(code, `${operation}: ${message}`);
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

/** That as many elements are copied as there is room for. */
export function equalLengths(operation: string, source: number, target: number): void {
  if (source === target) return;
  fail("KERNEL_ARRAY", operation, `${source} elements can't be copied into ${target}`);
}
