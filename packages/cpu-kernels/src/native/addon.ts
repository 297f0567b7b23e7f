/** Finds and loads the addon, once in each thread. A failure is a reason, never a crash. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.js";
import { lack, messageOf, type Lack } from "../lack.js";
import { addonInterface, findAddon, otherInterface } from "./addon-file.js";
import { coded } from "./coded-error.js";

declare const handleBrand: unique symbol;
/** Kernels in the addon. */
export interface Handle {
  readonly [handleBrand]: true;
}

/** weights, bias, inputs, outputs */
export type LayerArguments = readonly [Float32Array, Float32Array, number, number];

/**
 * kind (0 none, 1 add, 2 Adagrad, 3 Adam), scale, learning rate, ε, β₁, β₂, step, the target's
 * weights and bias, and those of two arrays of state.
 */
export type GradientArguments = readonly [
  ...numbers: readonly [number, number, number, number, number, number, number],
  ...arrays: readonly [
    weights: Float32Array | undefined,
    bias: Float32Array | undefined,
    firstWeights: Float32Array | undefined,
    firstBias: Float32Array | undefined,
    secondWeights: Float32Array | undefined,
    secondBias: Float32Array | undefined,
  ],
];

/**
 * The addon's functions. Everything is passed flat, so that none of the caller's code can run
 * between a check of an argument and its use.
 *
 * @throws CpuKernelsError each of them
 */
export interface Addon {
  /** `addonInterface`, or the addon is none of this version's. */
  interfaceVersion(): number;
  /** Bit i: the processor has `instructionSets[i]`; the next one: it has products in bfloat16. */
  supported(): number;
  create(threads: number, isa: number, bf16: boolean, keptBytes: number): Handle;
  dispose(kernels: Handle): void;
  upload(
    kernels: Handle,
    slot: number,
    rows: number,
    offsets: Uint32Array,
    indices: Uint32Array,
    values: Float32Array,
    labelOffsets: Uint32Array,
    labels: Uint32Array,
  ): void;
  gather(
    ...args: readonly [Handle, slot: number, ...LayerArguments, activation: number, Float32Array]
  ): void;
  dense(
    ...args: readonly [
      ...[Handle, rows: number, input: Float32Array],
      ...LayerArguments,
      ...[activation: number, out: Float32Array],
    ]
  ): void;
  output(
    ...args: readonly [
      ...[Handle, slot: number, hidden: Float32Array],
      ...LayerArguments,
      loss: number,
      ...GradientArguments,
      ...[dHidden: Float32Array | null, losses: Float32Array],
    ]
  ): void;
  denseBackward(
    ...args: readonly [
      ...[Handle, rows: number, input: Float32Array],
      ...LayerArguments,
      ...[activation: number, outputs: Float32Array, dOutputs: Float32Array],
      ...GradientArguments,
      dInput: Float32Array,
    ]
  ): void;
  scatter(
    ...args: readonly [
      ...[Handle, slot: number],
      ...LayerArguments,
      ...[activation: number, outputs: Float32Array, dOutputs: Float32Array],
      ...GradientArguments,
    ]
  ): void;
  topK(
    ...args: readonly [
      ...[Handle, rows: number, hidden: Float32Array],
      ...LayerArguments,
      ...[k: number, ids: Uint32Array, logits: Float32Array, logSumExp: Float32Array],
    ]
  ): void;
  /** The terms follow: coefficient, source, coefficient, source … */
  blend(kernels: Handle, target: Float32Array, ...terms: readonly (number | Float32Array)[]): void;
  /** The layers' arguments follow, one layer's after the other's. */
  trainMicroBatches(
    kernels: Handle,
    slot: number,
    activation: number,
    loss: number,
    microBatchRows: number,
    learningRate: number,
    losses: Float32Array,
    ...layers: readonly (Float32Array | number)[]
  ): void;
  /** Bytes of work buffers that the kernels hold. */
  workBytes(kernels: Handle): number;
  /** The work buffers that kernels come to hold; see `nativeKernelsBytes`. */
  plannedBytes(
    threads: number,
    isa: number,
    bf16: boolean,
    keptBytes: number,
    rows: number,
    nonZeros: number,
    labels: number,
    withRule: boolean,
    ...widths: readonly number[]
  ): number;
  /** Where an array begins in memory, modulo 2 MiB. */
  placeOf(array: Float32Array): number;
  /** Asks for huge pages where the array is large, and touches every page. */
  settle(array: Float32Array): void;
}

export type LoadedAddon = { readonly ok: true; readonly addon: Addon } | Lack;

let loaded: LoadedAddon | undefined;

/** The addon, or why there is none. */
export function loadAddon(): LoadedAddon {
  loaded ??= loadAddonOf(fileURLToPath(packageRoot));
  return loaded;
}

/** The same for any folder that has `prebuilds`. */
export function loadAddonOf(folder: string): LoadedAddon {
  const file = findAddon(folder);
  if (!file.ok) return file;
  try {
    const raw = createRequire(import.meta.url)(file.path) as RawAddon;
    const version =
      typeof raw["interfaceVersion"] === "function" ? raw["interfaceVersion"]() : null;
    if (version !== addonInterface) return lack(folder, otherInterface(file.path, version));
    return { ok: true, addon: withCodedErrors(raw) };
  } catch (error) {
    return lack(folder, `the addon can't be loaded: ${messageOf(error)}`);
  }
}

type RawAddon = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** The functions, with what they throw as errors of this package. */
function withCodedErrors(raw: RawAddon): Addon {
  const functions = Object.entries(raw).map(([name, run]) => {
    const call = (...args: readonly unknown[]): unknown => {
      try {
        return run(...args);
      } catch (error) {
        throw coded(error);
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(functions) as unknown as Addon;
}
