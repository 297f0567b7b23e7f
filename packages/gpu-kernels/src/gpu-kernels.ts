import { kindOf } from "@heterosgd/model";
import { checkOptions, fail, numberOf, whole } from "./checks.js";
import { openCudaDriver } from "./cuda/cuda-driver.js";
import type { GpuDriver } from "./driver.js";
import { kernelsOver, type GpuKernels } from "./kernels/kernels.js";
import { defaultBlockBytes, defaultKeptBytes } from "./kernels/sizes.js";
import { openOpenClDriver } from "./opencl/opencl-driver.js";

export interface GpuKernelsOptions {
  readonly technology: "cuda" | "opencl";
  /** Which of the devices that `cudaSupport` or `openclSupport` lists. Default 0. */
  readonly index?: number;
  /**
   * The library of the driver, instead of the system's or of what HETEROSGD_CUDA_LIBRARY or
   * HETEROSGD_OPENCL_LIBRARY name.
   */
  readonly library?: string;
  /**
   * Whether cuBLAS makes the products of dense layers: the library of that name, or the system's where there is one
   * (`true`, the default), or none (`false`). HETEROSGD_CUBLAS has the same say: a file, or `off`. Where another
   * driver was named, the default is none.
   */
  readonly cublas?: string | boolean;
  /** Bytes of the logits of one block of classes. Default 16 MiB. */
  readonly blockBytes?: number;
  /**
   * Bytes of logits that the softmax may keep between its passes. A batch with more has them
   * computed twice. Default 1 GiB.
   */
  readonly keptBytes?: number;
}

const optionNames = [
  "technology",
  "index",
  "library",
  "cublas",
  "blockBytes",
  "keptBytes",
] as const;

const open: Readonly<
  Record<
    GpuKernelsOptions["technology"],
    (
      device: { readonly index: number } & {
        readonly [Name in "library" | "cublas"]?: GpuKernelsOptions[Name] | undefined;
      },
    ) => GpuDriver
  >
> = { cuda: openCudaDriver, opencl: openOpenClDriver };

/**
 * The Kernels contract on a device of CUDA or OpenCL. Parameters, gradients and activations stay in
 * its memory. Equal calls on one device give equal results to the last bit.
 *
 * Work buffers are taken at first use for the largest batch that the uploaded arrays have room for,
 * and kept. `topK` and reading what is short do not block the calling thread.
 *
 * @throws GpuKernelsError GPU_UNAVAILABLE, GPU_MEMORY, GPU_DRIVER, KERNEL_ARGUMENT. Operations throw
 * KERNEL_ARRAY, KERNEL_BATCH, KERNEL_ARGUMENT and KERNEL_DISPOSED before they change anything, and
 * GPU_MEMORY, GPU_LOST and GPU_DRIVER when the driver says so: of work that was asked for earlier,
 * too.
 */
export function createGpuKernels(options: GpuKernelsOptions): GpuKernels {
  const operation = "createGpuKernels";
  checkOptions(operation, options, optionNames);
  const { technology, index = 0, library, cublas } = options;
  const { blockBytes = defaultBlockBytes, keptBytes = defaultKeptBytes } = options;
  numberOf(operation, "technology", { cuda: 0, opencl: 1 }, technology);
  whole(operation, "index", index, 0);
  if (!["undefined", "boolean", "string"].includes(typeof cublas)) {
    const expected = "expected true, false or the name of a library";
    fail("KERNEL_ARGUMENT", operation, `cublas is ${kindOf(cublas)}, ${expected}`);
  }
  if (technology === "opencl" && cublas !== undefined) {
    fail("KERNEL_ARGUMENT", operation, "cublas is for CUDA, leave it out for OpenCL");
  }
  whole(operation, "blockBytes", blockBytes, 0);
  whole(operation, "keptBytes", keptBytes, 0);
  const driver = open[technology]({ index, library, cublas });
  try {
    const most = Math.min(keptBytes, driver.maxBufferBytes);
    return kernelsOver(driver, { blockBytes, keptBytes: most });
  } catch (error) {
    driver.close();
    throw error;
  }
}
