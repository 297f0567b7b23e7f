/** What the gpu.js back end gives and takes: the same in Node and in a browser. */
import type { DeviceArray, Kernels, ParameterLayout, UpdateRule } from "@heterosgd/model";

/**
 * What gpu.js computes on. `headlessgl`: WebGL without a window, in Node. `webgl`, `webgl2`: a
 * browser's. `webasm`: WebAssembly. `cpu`: plain JavaScript.
 */
export type GpujsMode = "headlessgl" | "webgl" | "webgl2" | "webasm" | "cpu";

/** The modes that Node has. */
export type GpujsNodeMode = Extract<GpujsMode, "headlessgl" | "webasm" | "cpu">;

/** An array of these kernels, or part of one. */
export interface GpujsArray extends DeviceArray {
  readonly length: number;
}

/** A batch that was uploaded. It stands for what is in its slot until something else is. */
export interface GpujsBatch {
  readonly rows: number;
}

/** Sizes that a run comes to. */
export interface GpujsLimits {
  readonly maxRows: number;
  readonly maxNonZeros: number;
  readonly maxLabels: number;
  readonly optimizer: UpdateRule | null;
}

export interface GpujsKernels extends Kernels<GpujsArray, GpujsBatch> {
  /** `gpujs-headlessgl`, `gpujs-webasm` …: what runs, never what was merely asked for. */
  readonly name: string;
  readonly mode: GpujsMode;
  /** The renderer as its driver names it, or what computes in its place. */
  readonly device: string;
  /**
   * Compiles what steps and rankings of such a network need, by taking them once on arrays of their
   * own, so that the first real step takes as long as the others. Shaders take 0.1 s each.
   */
  warm(layout: ParameterLayout, limits: Pick<GpujsLimits, "maxRows" | "optimizer">): Promise<void>;
  /** What lies on the device. */
  deviceUse(): GpujsDeviceUse | Promise<GpujsDeviceUse>;
}

export interface GpujsDeviceUse {
  /** Textures, or arrays that stand for them. */
  readonly blocks: number;
  readonly bytes: number;
  /** The most bytes so far. */
  readonly mostBytes: number;
}

/** A device of gpu.js in Node. */
export interface GpujsDevice {
  readonly technology: "gpujs";
  readonly mode: GpujsNodeMode;
  /** The renderer as its driver names it, such as `llvmpipe (LLVM 15.0.6, 256 bits)`. */
  readonly name: string;
  /** `cpu` where the renderer is software, and without WebGL. */
  readonly kind: "gpu" | "cpu";
}

/** A mode that can't be had, why, and what would help. */
export interface GpujsLack {
  readonly mode: GpujsNodeMode;
  readonly reason: string;
  readonly remedy: string;
}

/** Each of Node's modes is in one list or the other, `headlessgl` first. */
export interface GpujsSupport {
  readonly devices: readonly GpujsDevice[];
  readonly lacking: readonly GpujsLack[];
}

export interface OpenGpujsOptions {
  readonly mode: GpujsNodeMode;
  /**
   * `thread`: in the calling thread, by a copy of the addon of its own. `process`: in a child
   * process, whose crash loses its device and nothing else. Default `thread`.
   */
  readonly isolation?: "thread" | "process";
}
