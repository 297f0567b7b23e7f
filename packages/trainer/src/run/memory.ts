import { networkBytes, optimizerStateArrays, parameterLayout } from "@heterosgd/model";
import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import { stateArraysOf } from "../coordinator/model-table.js";
import { feedBuffers } from "../device/batch-feed.js";
import {
  deviceKernelsBytes,
  hostOf,
  ownMemoryHostBytes,
  type KernelsDescription,
} from "../device/device-kernels.js";
import { chooseKernels } from "./choose-kernels.js";
import type { BatchLimits } from "../device/api.js";
import { batchLimits } from "./batch-limits.js";
import { fitDevices, type FittedDevice, type GpuMemory } from "./memory-gpu.js";
import { gpujsHostBytes } from "./memory-gpujs.js";
import { processMemory, type ProcessMemory } from "./memory-process.js";
import { rehearse } from "./memory-rehearsal.js";
import type { TrainOptions } from "./train.js";

/** What a run will take, in bytes. */
export interface MemoryEstimate {
  /** What the process holds besides data sets: the interpreter, the program, names of labels. */
  readonly process: number;
  readonly trainData: number;
  readonly evaluationData: number;
  /** Permutations of the training rows. */
  readonly permutations: number;
  /** Models that belong to no device, with their optimiser state. */
  readonly globalModels: number;
  readonly devices: readonly {
    readonly device: DeviceId;
    /** Replica and accumulators, with optimiser state. */
    readonly models: number;
    /** Batch, activations and what the kernels work in. */
    readonly work: number;
    /** What it takes of memory of its own, which is none of the process's; null where it has none. */
    readonly own: GpuMemory | null;
  }[];
  /** The devices' threads and that which writes checkpoints, each with an interpreter of its own. */
  readonly threads: number;
  /** Copies of models that checkpoints are written from while training goes on. */
  readonly checkpoints: number;
  /** Of a simulation: changes to shared models that are still under way, and the result. */
  readonly simulation: number;
  /** By which the interpreter's own heap grows in a run. */
  readonly heap: number;
  /** The sum of all these. */
  readonly training: number;
  /** The most that the process has held so far, as a rule while it read the data. */
  readonly reading: number;
  /** The most at any time: of `training` and `reading` the larger one. */
  readonly total: number;
  /**
   * The part of it that lies in the one memory of all kernels in WebAssembly, which has room for
   * `wasmMemoryBytes`; null for other kernels.
   */
  readonly wasm: number | null;
}

export interface EstimateOptions extends Pick<
  TrainOptions,
  | "train"
  | "evaluation"
  | "shape"
  | "rule"
  | "devices"
  | "policy"
  | "kernels"
  | "bf16"
  | "gpujs"
  | "require"
> {
  /** Whether checkpoints are written. Default false. */
  readonly savesCheckpoints?: boolean;
  /** Whether all devices are simulated in one thread. Default false. */
  readonly isSimulated?: boolean;
  /** What the process holds, the data sets included. Default: what this one does. */
  readonly held?: ProcessMemory;
}

const MEBIBYTE = 2 ** 20;

/** A worker thread with its interpreter and the trainer's program, measured on Node 20, Linux. */
const THREAD_BYTES = 17 * MEBIBYTE;

/** What the main thread's young objects and compiled code come to, measured likewise. */
const HEAP_BYTES = 8 * MEBIBYTE;

/** The unit in which memory for native kernels is had. */
const HUGE_PAGE = 2 * MEBIBYTE;

/**
 * Adds up what the process will hold at most in `train` or `simulate` with these options, given that it
 * holds the data sets already. What grows neither with the data nor with the model (buffers of files,
 * events on their way) is counted in the lump. Not counted are devices that are opened anew or added
 * later, beyond what the lost ones held.
 *
 * @throws TrainerError KERNELS_UNAVAILABLE, DEVICE_SPEC, DEVICE_MEMORY
 */
export function estimateMemory(options: EstimateOptions): MemoryEstimate {
  const { train, evaluation, shape, rule, policy, devices: specs } = options;
  const { savesCheckpoints = false, isSimulated = false, held = processMemory() } = options;
  const layout = parameterLayout(shape);
  const kernels = chooseKernels(specs, options).devices;
  const fitted = fitDevices(specs, kernels, options);
  const infos = fitted.map(({ info }) => info);
  const names = policy.models(infos);
  const { saved, sharing, rowByRow } = rehearse({
    policy,
    devices: infos,
    rows: train.rows,
    parameters: layout.parameterCount,
  });

  const arrayBytes = layout.length * 4;
  const states = optimizerStateArrays(rule);
  const arraysOf = (name: ModelName) => 1 + stateArraysOf(name, states);
  const inKernels = kernelArrayBytes(arrayBytes, kernels);
  const modelBytes = (belongs: (name: ModelName) => boolean) =>
    names.filter(belongs).reduce((bytes, name) => bytes + inKernels * arraysOf(name), 0);

  const batchesOf = ({ limits, memory }: FittedDevice) => {
    const { nonZeros, labels, rows } = limits;
    const buffers = feedBuffers({ sharesMemory: memory === null });
    return buffers * 4 * (2 * nonZeros + labels + 2 * (rows + 1));
  };
  const evaluationOrder = 4 * (evaluation?.rows ?? 0);
  const oneRow = batchLimits(1, [train, evaluation]);
  const devices = fitted.map((device) => {
    const { limits, memory: own } = device;
    const { id } = device.info;
    const worked = rowByRow.includes(id) ? oneRow : limits;
    const { work } = networkBytes(layout, { maxRows: limits.rows, optimizer: rule });
    const gathered = batchesOf(device) + evaluationOrder;
    // What a device has in memory of its own is computed there, but its models can be seen here too.
    const computed =
      own === null
        ? work + deviceKernelsBytes(kernels[id]!, layout, worked, rule)
        : hostBytes(kernels[id]!, limits, own);
    return {
      device: id,
      models: modelBytes((name) => name.split(":")[1] === String(id)),
      work: gathered + computed,
      own,
    };
  });

  const trainData = train.buffer.byteLength;
  const evaluationData = evaluation?.buffer.byteLength ?? 0;
  const changing = sharing.length === 0 ? 0 : sharing.length + 1;
  const threads = isSimulated ? 0 : specs.length + (savesCheckpoints ? 1 : 0);
  const parts = {
    process: Math.max(0, held.now - trainData - evaluationData),
    trainData,
    evaluationData,
    permutations: 2 * 4 * train.rows,
    globalModels: modelBytes((name) => !name.includes(":")),
    threads: threads * THREAD_BYTES,
    checkpoints: savesCheckpoints
      ? saved.reduce((bytes, name) => bytes + arrayBytes * arraysOf(name), 0)
      : 0,
    simulation: isSimulated ? arrayBytes * (changing * (1 + states) + 1) : 0,
    heap: HEAP_BYTES,
  };
  const training = devices.reduce(
    (bytes, device) => bytes + device.models + device.work,
    Object.values(parts).reduce((bytes, part) => bytes + part, 0),
  );
  // Batches are gathered outside of it, and what serves memory of a device's own lies outside too.
  const outside = ({ device, own, work }: MemoryEstimate["devices"][number]) =>
    own === null ? batchesOf(fitted[device]!) + evaluationOrder : work;
  const wasm = kernels.map(hostOf).some(({ name }) => name === "wasm")
    ? devices.reduce(
        (bytes, one) => bytes + one.models + one.work - outside(one),
        parts.globalModels,
      )
    : null;
  const total = Math.max(training, held.peak);
  return { ...parts, devices, training, reading: held.peak, total, wasm };
}

/** What a device with memory of its own takes of the process's, or of the machine's beside it. */
function hostBytes(kernels: KernelsDescription, limits: BatchLimits, own: GpuMemory): number {
  return kernels.name === "gpujs"
    ? gpujsHostBytes(kernels, own.bytes)
    : ownMemoryHostBytes(kernels, limits);
}

/** What an array of so many bytes takes where such kernels work on it. */
function kernelArrayBytes(bytes: number, kernels: readonly KernelsDescription[]): number {
  const isOnHugePages =
    bytes >= HUGE_PAGE && kernels.map(hostOf).some(({ name }) => name === "native");
  return isOnHugePages ? Math.ceil(bytes / HUGE_PAGE) * HUGE_PAGE : bytes;
}
