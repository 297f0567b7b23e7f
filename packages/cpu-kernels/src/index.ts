export { CpuKernelsError, type CpuKernelsErrorCode } from "./errors.js";
export * from "./native/native-kernels.js";
export { allocateInWasmMemory, createWasmMemory } from "./wasm/memory.js";
export { wasmKernelsBytes } from "./wasm/prediction.js";
export {
  createWasmKernels,
  type WasmKernels,
  type WasmKernelsOptions,
} from "./wasm/wasm-kernels.js";
