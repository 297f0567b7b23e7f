import { nativeSupport, wasmSupport, type InstructionSet } from "@heterosgd/cpu-kernels";
import type { GpujsSupport } from "@heterosgd/gpu-kernels";
import type { CpuKernelsDescription, KernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { chooseGpu, isGpuSpec } from "./choose-gpu.js";
import { chooseGpujs, isGpujsSpec } from "./choose-gpujs.js";

/** `auto`: native where the addon can be used, WebAssembly elsewhere. */
export type KernelsChoice = "auto" | CpuKernelsDescription["name"];

/** What devices run on. */
export interface KernelsOptions {
  /** What runs on processors. Default `auto`. */
  readonly kernels?: KernelsChoice;
  /**
   * Takes the output layer's products in bfloat16, where native kernels and the processor can. Sums
   * and parameters stay float32. Default false.
   */
  readonly bf16?: boolean;
  /** Refuses what `auto` takes in place of the best. Default false. */
  readonly require?: boolean;
  /**
   * What gpu.js offers here. Default: what `gpujsSupport()` resolves to, where a device runs on it and the function
   * can wait for it.
   */
  readonly gpujs?: GpujsSupport | undefined;
}

export interface ChosenKernels {
  /** By device. */
  readonly devices: readonly KernelsDescription[];
  /** Why `auto` did not mean native kernels; null where it did, or others were asked for. */
  readonly nativeUnavailable: string | null;
}

/**
 * Decides what runs on these devices, in this process. Only `auto` decides anything: what is asked for
 * by name is had or refused.
 *
 * It must be called in the main thread before devices of OpenCL are opened in others, whose drivers may not
 * stand to be looked for by two at once.
 *
 * @throws TrainerError KERNELS_UNAVAILABLE if what is asked for can't be had here, a GPU among it;
 * DEVICE_SPEC if a device has threads, but the kernels have not. TypeError if a device runs on gpu.js and
 * `options.gpujs` is left out.
 */
export function chooseKernels(
  devices: readonly DeviceSpec[],
  options: KernelsOptions = {},
): ChosenKernels {
  const processors = devices.filter(({ kind }) => kind === "cpu");
  if (processors.length === 0 && options.bf16 === true) throw noBf16("those of GPUs have none");
  const onProcessors =
    processors.length === 0
      ? { kernels: [], nativeUnavailable: null }
      : chooseForProcessors(processors, options);
  const gpus = devices.map((spec) => {
    if (isGpujsSpec(spec)) return chooseGpujs(spec, options.gpujs);
    return isGpuSpec(spec) ? chooseGpu(spec) : null;
  });
  const left = [...onProcessors.kernels];
  // Beside GPUs, what merges models in the process's memory.
  const besides =
    processors.length === devices.length
      ? null
      : chooseForProcessors([oneThread], { ...options, bf16: false });
  return {
    devices: gpus.map((gpu): KernelsDescription => {
      return gpu === null ? left.shift()! : { ...gpu, host: besides!.kernels[0]! };
    }),
    nativeUnavailable: onProcessors.nativeUnavailable ?? besides?.nativeUnavailable ?? null,
  };
}

/** A processor that works on models, not on batches. */
const oneThread: DeviceSpec = { kind: "cpu", threads: 1, speed: 1, role: "host" };

export interface ProcessorKernels {
  readonly kernels: readonly CpuKernelsDescription[];
  readonly nativeUnavailable: string | null;
}

/** `chooseKernels` for processors. */
export function chooseForProcessors(
  devices: readonly DeviceSpec[],
  { kernels: choice = "auto", bf16 = false, require = false }: KernelsOptions,
): ProcessorKernels {
  const native = choice === "auto" || choice === "native" ? nativeSupport() : null;
  if (native?.available) {
    if (bf16 && !native.bf16) {
      throw noBf16("this processor has no instructions for them");
    }
    const isa: InstructionSet | null = native.isas[0] ?? null;
    return {
      kernels: devices.map(({ threads }) => ({ name: "native", isa, threads, bf16 })),
      nativeUnavailable: null,
    };
  }
  const reason = native?.reason ?? null;
  if (native !== null && (choice === "native" || require)) {
    const instead =
      choice === "native" ? 'ask for "auto", which takes what there is' : "leave require out";
    throw new TrainerError(
      "KERNELS_UNAVAILABLE",
      `the native kernels can't be had: ${native.reason}; ${native.remedy}, or ${instead}`,
    );
  }
  const name = choice === "auto" ? "wasm" : choice;
  const why = reason === null ? "" : ` (the native kernels are not available: ${reason})`;
  if (name === "wasm") requireWasm(why);
  if (bf16) throw noBf16(`the ${name} kernels have none${why}`);
  const threaded = devices.find(({ threads }) => threads > 1);
  if (threaded !== undefined) {
    const several = formatDevice({ ...threaded, threads: 1 });
    throw new TrainerError(
      "DEVICE_SPEC",
      `"${formatDevice(threaded)}" has ${threaded.threads} threads, but the ${name} kernels run on one${why}; ` +
        `name as many devices instead: ${threaded.threads}*${several}`,
    );
  }
  return {
    kernels: devices.map(() => ({ name, isa: null, threads: 1, bf16: false })),
    nativeUnavailable: reason,
  };
}

/** @param native - why there are no native kernels either, or nothing */
function requireWasm(native: string): void {
  const wasm = wasmSupport();
  if (wasm.available) return;
  throw new TrainerError(
    "KERNELS_UNAVAILABLE",
    `the wasm kernels can't be had: ${wasm.reason}${native}; ${wasm.remedy}`,
  );
}

function noBf16(reason: string): TrainerError {
  return new TrainerError(
    "KERNELS_UNAVAILABLE",
    `products in bfloat16 can't be had: ${reason}; leave bf16 out`,
  );
}
