import { checkOptions } from "../checks.js";
import { CpuKernelsError } from "../errors.js";
import { loadAddon, type Addon } from "./addon.js";

/** The instruction sets that the addon is compiled for, fastest first. */
export const instructionSets = ["avx512", "avx2", "portable"] as const;
export type InstructionSet = (typeof instructionSets)[number];

/** Whether the addon can be used here, and what the processor offers. */
export type NativeSupport =
  | {
      readonly available: true;
      /** Those that this processor has, fastest first. */
      readonly isas: readonly InstructionSet[];
      /** Whether products in bfloat16 can be had. */
      readonly bf16: boolean;
    }
  | {
      readonly available: false;
      readonly reason: string;
      /** What would help. */
      readonly remedy: string;
    };

/** Looks for the addon and at the processor. The first call in a thread loads the addon. */
export function nativeSupport(): NativeSupport {
  const loaded = loadAddon();
  if (!loaded.ok) return { available: false, reason: loaded.reason, remedy: loaded.remedy };
  return { available: true, ...offers(loaded.addon) };
}

/** What the processor has of what the addon is compiled for. */
function offers(addon: Addon) {
  const bits = addon.supported();
  return {
    isas: instructionSets.filter((_, i) => (bits & (1 << i)) !== 0),
    bf16: (bits & (1 << instructionSets.length)) !== 0,
  };
}

export interface NativeKernelsOptions {
  /** Threads that share the work of every operation, the calling one among them. Default 1. */
  readonly threads?: number;
  /** Default: the fastest that the processor has. */
  readonly isa?: InstructionSet;
  /**
   * Multiplies the output layer's products in bfloat16 with float32 sums. Parameters stay float32.
   * Default false.
   */
  readonly bf16?: boolean;
  /**
   * Bytes for exponentials that the softmax may keep between its passes. Blocks of classes beyond
   * it have their logits computed twice. Default 1 GiB.
   */
  readonly keptBytes?: number;
}

/** The options with their defaults, and the addon that they were checked against. */
export interface NativeSettings {
  readonly addon: Addon;
  readonly threads: number;
  readonly isa: InstructionSet;
  readonly bf16: boolean;
  readonly keptBytes: number;
}

/** @throws CpuKernelsError NATIVE_UNAVAILABLE, ISA_UNSUPPORTED, KERNEL_ARGUMENT */
export function nativeSettings(operation: string, options: NativeKernelsOptions): NativeSettings {
  checkOptions(operation, options, ["threads", "isa", "bf16", "keptBytes"]);
  const { threads = 1, isa, bf16 = false, keptBytes = 2 ** 30 } = options;
  const loaded = loadAddon();
  if (!loaded.ok) {
    throw new CpuKernelsError(
      "NATIVE_UNAVAILABLE",
      `No native kernels: ${loaded.reason}; ${loaded.remedy}.`,
    );
  }
  const support = offers(loaded.addon);
  const chosen = isa ?? support.isas[0]!;
  if (!support.isas.includes(chosen)) {
    throw new CpuKernelsError(
      "ISA_UNSUPPORTED",
      `The instruction set is "${chosen}"; this processor has ${support.isas.join(", ")}.`,
    );
  }
  if (bf16 && !(support.bf16 && chosen === "avx512")) {
    throw new CpuKernelsError(
      "ISA_UNSUPPORTED",
      support.bf16
        ? `Products in bfloat16 come with avx512 only, not with ${chosen}.`
        : "This processor has no products in bfloat16 (AVX512_BF16).",
    );
  }
  return { addon: loaded.addon, threads, isa: chosen, bf16, keptBytes };
}
