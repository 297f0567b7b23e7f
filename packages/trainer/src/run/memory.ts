import { networkBytes, optimizerStateArrays, parameterLayout } from "@heterosgd/model";
import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import { deviceKernelsBytes } from "../device/device-kernels.js";
import { chooseKernels } from "./choose-kernels.js";
import { batchLimits, bufferRows } from "./batch-limits.js";
import { deviceInfo } from "./device-info.js";
import type { TrainOptions } from "./train.js";

/** What a run will take, in bytes, before it has taken anything. */
export interface MemoryEstimate {
  readonly trainData: number;
  readonly evaluationData: number;
  /** Permutations of the training rows. */
  readonly permutations: number;
  /** Global models, with their optimiser state. */
  readonly globalModels: number;
  readonly devices: readonly {
    readonly device: DeviceId;
    /** Replica and accumulators, with optimiser state. */
    readonly models: number;
    /** Batch, activations and what the kernels work in. */
    readonly work: number;
  }[];
  readonly total: number;
  /**
   * The part of it that lies in the one memory of all kernels in WebAssembly, which has room for
   * `wasmMemoryBytes`; null for other kernels.
   */
  readonly wasm: number | null;
}

/**
 * Adds up what `train` would take with these options, the interpreter itself (about 100 MB, and 20
 * MB a device) left out.
 *
 * @throws TrainerError KERNELS_UNAVAILABLE, DEVICE_SPEC
 */
export function estimateMemory(
  options: Pick<
    TrainOptions,
    "train" | "evaluation" | "shape" | "rule" | "devices" | "policy" | "kernels" | "bf16"
  >,
): MemoryEstimate {
  const layout = parameterLayout(options.shape);
  const { maxBatchRows } = options.policy;
  const { train, evaluation } = options;
  const limits = batchLimits(bufferRows(options.policy, train, evaluation), [train, evaluation]);
  const withState = layout.length * 4 * (1 + optimizerStateArrays(options.rule));
  const { work } = networkBytes(layout, { maxRows: limits.rows, optimizer: options.rule });
  const kernels = chooseKernels(options.devices, options).devices;
  const batch = 4 * (2 * limits.nonZeros + limits.labels + 2 * (limits.rows + 1));
  const infos = options.devices.map((spec, id) => deviceInfo(id, maxBatchRows, spec));
  const names = options.policy.models(infos);
  const bytesOf = (name: ModelName) =>
    name.startsWith("gradient:") ? layout.length * 4 : withState;
  const sum = (belongs: (name: ModelName) => boolean) =>
    names.filter(belongs).reduce((bytes, name) => bytes + bytesOf(name), 0);

  const devices = infos.map(({ id }) => ({
    device: id,
    models: sum((name) => name.split(":")[1] === String(id)),
    work: work + batch + deviceKernelsBytes(kernels[id]!, layout, limits, options.rule),
  }));
  // Batches are gathered outside of it.
  const inWasm = devices.map(({ models, work: all }) => models + all - batch);
  const parts = {
    trainData: options.train.buffer.byteLength,
    evaluationData: options.evaluation?.buffer.byteLength ?? 0,
    permutations: 2 * 4 * options.train.rows,
    globalModels: sum((name) => !name.includes(":")),
  };
  const shared = Object.values(parts).reduce((total, bytes) => total + bytes, 0);
  const total = devices.reduce((bytes, device) => bytes + device.models + device.work, shared);
  const isWasm = kernels.some(({ name }) => name === "wasm");
  const wasm = isWasm ? inWasm.reduce((all, bytes) => all + bytes, parts.globalModels) : null;
  return { ...parts, devices, total, wasm };
}
