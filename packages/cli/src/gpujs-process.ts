/** The process that runs gpu.js, beside the bundle, where the GPU kernels look for it. */
// oxlint-disable-next-line import/no-unassigned-import -- running it is all there is to it
import "@heterosgd/gpu-kernels/gpujs-process";
