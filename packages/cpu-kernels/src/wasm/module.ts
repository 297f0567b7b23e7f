import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CpuKernelsError } from "../errors.js";
import { lack, messageOf, type Lack } from "../lack.js";
import { packageRoot } from "../package-root.js";

/**
 * What `assembly/index.ts` exports: addresses are numbers of bytes, counts are of elements. Nothing
 * is checked there.
 */
export interface WasmFunctions {
  gather(
    rows: number,
    offsets: number,
    indices: number,
    values: number,
    weights: number,
    bias: number,
    units: number,
    activation: number,
    out: number,
  ): void;
  dense(
    rows: number,
    input: number,
    inputs: number,
    weights: number,
    bias: number,
    units: number,
    activation: number,
    out: number,
    panels: number,
    staging: number,
  ): void;
  output(
    loss: number,
    rows: number,
    hidden: number,
    inputs: number,
    classes: number,
    weights: number,
    bias: number,
    labelOffsets: number,
    labelClasses: number,
    labelRows: number,
    labelCount: number,
    dHidden: number,
    losses: number,
    panels: number,
    scaled: number,
    weightRoom: number,
    tile: number,
    tileStride: number,
    kept: number,
    keptBlocks: number,
    keptMaxima: number,
    rowState: number,
    room: number,
  ): void;
  denseBackward(
    rows: number,
    input: number,
    inputs: number,
    weights: number,
    units: number,
    activation: number,
    outputs: number,
    dOutputs: number,
    dInput: number,
    panels: number,
    scaled: number,
    sums: number,
  ): void;
  scatter(
    rows: number,
    offsets: number,
    indices: number,
    values: number,
    units: number,
    activation: number,
    outputs: number,
    dOutputs: number,
    room: number,
  ): void;
  scatterByRule(
    rows: number,
    columns: number,
    columnCount: number,
    ends: number,
    columnRows: number,
    columnValues: number,
    units: number,
    activation: number,
    outputs: number,
    dOutputs: number,
    room: number,
  ): void;
  topK(
    rows: number,
    hidden: number,
    units: number,
    classes: number,
    weights: number,
    bias: number,
    k: number,
    ids: number,
    best: number,
    logSumExp: number,
    panels: number,
    tile: number,
    tileStride: number,
    rowState: number,
  ): void;
  blend(target: number, length: number, terms: number, table: number): void;
  labelOrder(
    rows: number,
    labelOffsets: number,
    labels: number,
    maxLabel: number,
    classes: number,
    labelRows: number,
    classes2: number,
    labelRows2: number,
    counters: number,
  ): void;
  columnOrder(
    rows: number,
    offsets: number,
    indices: number,
    values: number,
    maxFeature: number,
    columns: number,
    ends: number,
    columnRows: number,
    columnValues: number,
    room: number,
    counters: number,
  ): number;
  setGradient(kind: number, scale: number, weights: number, bias: number): void;
  setState(
    weightsFirst: number,
    biasFirst: number,
    weightsSecond: number,
    biasSecond: number,
  ): void;
  setRule(
    rate: number,
    epsilon: number,
    beta1: number,
    rest1: number,
    beta2: number,
    rest2: number,
    correction: number,
  ): void;
}

/** Which functions the module has; `interfaceVersion` in `assembly/index.ts`. */
const wasmInterface = 1;

/** Whether the WebAssembly kernels can be used here. */
export type WasmSupport =
  | { readonly available: true }
  | {
      readonly available: false;
      readonly reason: string;
      /** What would help. */
      readonly remedy: string;
    };

type LoadedModule = { readonly ok: true; readonly module: WebAssembly.Module } | Lack;

let loaded: LoadedModule | undefined;

/** The module, or why there is none: read, compiled and checked once in each thread. */
function loadModule(): LoadedModule {
  loaded ??= loadModuleOf(fileURLToPath(packageRoot));
  return loaded;
}

/** The same for any folder that has `wasm`. */
export function loadModuleOf(folder: string): LoadedModule {
  const path = join(folder, "wasm", "kernels.wasm");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(readFileSync(path));
  } catch (error) {
    return lack(folder, `${path} can't be read: ${messageOf(error)}`);
  }
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(bytes);
  } catch (error) {
    return lack(folder, `${path} (${bytes.length} bytes) is damaged: ${messageOf(error)}`);
  }
  const version = versionOf(module);
  if (version === wasmInterface) return { ok: true, module };
  return lack(
    folder,
    version === undefined
      ? `${path} is not this package's module`
      : `${path} has interface ${version}, expected ${wasmInterface}: it is of another version`,
  );
}

/** The interface that the module says it has; undefined if it is another module. */
function versionOf(module: WebAssembly.Module): number | undefined {
  try {
    // As little as the module accepts: this memory is for asking only.
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const { interfaceVersion } = new WebAssembly.Instance(module, { env: { memory } }).exports;
    return interfaceVersion instanceof WebAssembly.Global
      ? (interfaceVersion.value as number)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Looks at the module. The first call in a thread compiles it. */
export function wasmSupport(): WasmSupport {
  const found = loadModule();
  if (found.ok) return { available: true };
  return { available: false, reason: found.reason, remedy: found.remedy };
}

/**
 * An instance over this memory.
 *
 * @throws CpuKernelsError WASM_UNAVAILABLE
 */
export function instantiate(memory: WebAssembly.Memory): WasmFunctions {
  const found = loadModule();
  if (!found.ok) {
    throw new CpuKernelsError(
      "WASM_UNAVAILABLE",
      `No WebAssembly kernels: ${found.reason}; ${found.remedy}.`,
    );
  }
  const { exports } = new WebAssembly.Instance(found.module, { env: { memory } });
  return exports as unknown as WasmFunctions;
}
