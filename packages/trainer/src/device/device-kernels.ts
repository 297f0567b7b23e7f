import { createPlainKernels, type Kernels } from "@heterosgd/model";
import type { KernelsName } from "./api.js";

/** What a device can run on. Kernels are made in the worker that uses them, never shared. */
export function createDeviceKernels(name: KernelsName): Kernels {
  switch (name) {
    case "plain":
      return createPlainKernels();
  }
}
