import {
  createPlainKernels,
  plainKernelsBytes,
  type Kernels,
  type ParameterLayout,
  type UpdateRule,
} from "@heterosgd/model";
import type { BatchLimits, KernelsName } from "./api.js";

/** What a device can run on. Kernels are made in the worker that uses them, never shared. */
export function createDeviceKernels(name: KernelsName): Kernels {
  switch (name) {
    case "plain":
      return createPlainKernels();
  }
}

/** Bytes that such kernels take for their own work, beside models and activations. */
export function deviceKernelsBytes(
  name: KernelsName,
  layout: ParameterLayout,
  limits: BatchLimits,
  optimizer: UpdateRule | null,
): number {
  switch (name) {
    case "plain":
      return plainKernelsBytes(layout, {
        maxRows: limits.rows,
        maxNonZeros: limits.nonZeros,
        optimizer,
      });
  }
}
