import { readFileSync } from "node:fs";
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

let compiled: WebAssembly.Module | undefined;

/** An instance over this memory. The module is read and compiled once in each thread. */
export function instantiate(memory: WebAssembly.Memory): WasmFunctions {
  compiled ??= new WebAssembly.Module(readModule());
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  return exports as unknown as WasmFunctions;
}

function readModule(): Uint8Array<ArrayBuffer> {
  const url = new URL("wasm/kernels.wasm", packageRoot);
  try {
    return Uint8Array.from(readFileSync(url));
  } catch (cause) {
    throw new Error(`${url.href} can't be read: the package's build makes it.`, { cause });
  }
}
