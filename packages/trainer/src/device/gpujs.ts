import * as gpuKernels from "@heterosgd/gpu-kernels";
import type {
  GpujsBytesFunction,
  GpujsSupportFunction,
  OpenGpujsFunction,
} from "@heterosgd/gpu-kernels";

const all = gpuKernels as unknown as {
  readonly gpujsSupport: GpujsSupportFunction;
  readonly openGpujsKernels: OpenGpujsFunction;
  readonly gpujsKernelsBytes: GpujsBytesFunction;
};
export const gpujsSupport: GpujsSupportFunction = () => all.gpujsSupport();
export const openGpujsKernels: OpenGpujsFunction = (options) => all.openGpujsKernels(options);
export const gpujsKernelsBytes: GpujsBytesFunction = (layout, limits) =>
  all.gpujsKernelsBytes(layout, limits);
