export { CpuKernelsError, type CpuKernelsErrorCode } from "./errors.js";
export * from "./native/native-kernels.js";
export * from "./wasm/wasm-kernels.js";
