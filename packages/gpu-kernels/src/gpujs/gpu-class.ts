/**
 * What is used of gpu.js, so that this package's types need no gpu.js: its class `GPU` is passed in.
 */
import type { GpujsMode } from "./api.js";

/** gpu.js's `GPU`. */
export type GpuClass = new (settings: { readonly mode: GpujsMode }) => GpuInstance;

export interface GpuInstance {
  createKernel(source: string, settings: object): GpuKernel;
  destroy(): Promise<void>;
}

/** A kernel as gpu.js gives it: a function with settings. */
export interface GpuKernel {
  (...values: readonly never[]): unknown;
  /** What runs: another class than was asked for where gpu.js fell back. */
  readonly kernel: object;
  setOutput(output: number[]): unknown;
}

/** What a kernel on WebGL returns. */
export interface GpuTexture {
  toArray(): Float32Array;
  delete(): void;
}

/** Of WebGL, what is asked. */
export interface GlContext {
  readonly RENDERER: number;
  readonly NO_ERROR: number;
  readonly OUT_OF_MEMORY: number;
  getParameter(name: number): unknown;
  getExtension(name: string): unknown;
  getError(): number;
  isContextLost(): boolean;
}
