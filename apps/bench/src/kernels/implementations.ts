/** The implementations of the Kernels contract that can be had on this machine. */
import {
  createNativeKernels,
  createWasmKernels,
  instructionSets,
  nativeSupport,
  type NativeKernelsOptions,
} from "@heterosgd/cpu-kernels";
import { createPlainKernels, type Kernels } from "@heterosgd/model";

export interface Implementation {
  readonly name: string;
  readonly threads: number;
  /** Whether it multiplies in bfloat16. */
  readonly bf16: boolean;
  /** Whether it works only on arrays in its own memory. */
  readonly ownMemory: boolean;
  readonly create: () => Kernels;
}

/** One that cannot be had, and why. */
export interface Missing {
  readonly name: string;
  readonly reason: string;
}

export interface Implementations {
  readonly found: readonly Implementation[];
  readonly missing: readonly Missing[];
}

/** The native addon is listed once for each instruction set, the fastest with two threads too. */
export function implementations(): Implementations {
  const plain: Implementation = {
    name: "plain",
    threads: 1,
    bf16: false,
    ownMemory: false,
    create: () => createPlainKernels(),
  };
  const wasm: Implementation = {
    name: "wasm",
    threads: 1,
    bf16: false,
    ownMemory: true,
    create: () => createWasmKernels(),
  };
  const found = [plain];
  const missing: Missing[] = [];
  const reason = failureOf(wasm);
  if (reason === null) found.push(wasm);
  else missing.push({ name: wasm.name, reason });

  const support = nativeSupport();
  if (!support.available) {
    missing.push({ name: "native", reason: support.reason });
    return { found, missing };
  }
  const slowestFirst = [...instructionSets].toReversed();
  for (const isa of slowestFirst) {
    const name = `native-${isa}`;
    if (support.isas.includes(isa)) found.push(native(name, { isa }));
    else missing.push({ name, reason: "the processor lacks it" });
  }
  found.push(native("native-2-threads", { threads: 2 }));
  if (support.bf16) {
    found.push(native("native-bf16", { bf16: true }));
    found.push(native("native-bf16-2-threads", { bf16: true, threads: 2 }));
  } else missing.push({ name: "native-bf16", reason: "the processor lacks it" });
  return { found, missing };
}

function native(name: string, options: NativeKernelsOptions): Implementation {
  return {
    name,
    threads: options.threads ?? 1,
    bf16: options.bf16 ?? false,
    ownMemory: false,
    create: () => createNativeKernels(options),
  };
}

/** Why kernels cannot be made, null if they can. */
function failureOf({ create }: Implementation): string | null {
  try {
    void create().dispose();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
