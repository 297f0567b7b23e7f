export { CpuKernelsError, type CpuKernelsErrorCode } from "./errors.js";
export { allocateOnHugePages, nativeKernelsBytes } from "./native/native-memory.js";
export { createNativeKernels, type NativeKernels } from "./native/native-kernels.js";
export {
  instructionSets,
  nativeSupport,
  type InstructionSet,
  type NativeKernelsOptions,
  type NativeSupport,
} from "./native/native-support.js";
export { allocateInWasmMemory, createWasmMemory, wasmMemoryBytes } from "./wasm/memory.js";
export { wasmKernelsBytes } from "./wasm/prediction.js";
export { wasmSupport, type WasmSupport } from "./wasm/module.js";
export {
  createWasmKernels,
  type WasmKernels,
  type WasmKernelsOptions,
} from "./wasm/wasm-kernels.js";
