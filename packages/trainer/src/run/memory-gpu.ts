/** Whether what a device is to hold fits into its own memory, and how many rows a batch may have there. */
import {
  networkBytes,
  optimizerStateArrays,
  parameterLayout,
  type ParameterLayout,
} from "@heterosgd/model";
import type { DeviceId, DeviceInfo } from "@heterosgd/scheduler";
import { gpuMemory, type GpuMemory as DeviceMemory } from "@heterosgd/gpu-kernels";
import { ownModelCounts } from "../coordinator/device-models.js";
import { deviceKernelsBytes, type KernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import type { BatchLimits } from "../device/api.js";
import { batchLimits, bufferRows } from "./batch-limits.js";
import { isGpujsSpec } from "./choose-gpujs.js";
import { deviceInfo } from "./device-info.js";
import type { TrainOptions } from "./train.js";

/**
 * Of what is free, or of all where the driver does not tell: memory comes in pieces, the driver takes some for
 * kernels, and others may take some.
 */
const USABLE = 0.9;

/** What a run asks of a device's own memory, in bytes. */
export interface GpuMemory {
  readonly bytes: number;
  /** What there is for it; null where the driver does not tell (WebGL's does not). */
  readonly room: number | null;
  /** Rows that a batch may have for want of memory; null where it may have all that the algorithm wants. */
  readonly loweredTo: number | null;
}

/** A device of a run. */
export interface FittedDevice {
  /** As its policy sees it. */
  readonly info: DeviceInfo;
  /** What its buffers hold. */
  readonly limits: BatchLimits;
  /** What it takes of its own memory, null without any. */
  readonly memory: GpuMemory | null;
}

export type FitOptions = Pick<
  TrainOptions,
  "train" | "evaluation" | "shape" | "rule" | "policy" | "require"
>;

/**
 * Has batches of devices with memory of their own be as large as fits there.
 *
 * @param first - id of the first of them.
 * @throws TrainerError DEVICE_MEMORY where not even one row fits, or fewer than wanted and that is refused
 * (`require`).
 */
export function fitDevices(
  specs: readonly DeviceSpec[],
  kernels: readonly KernelsDescription[],
  options: FitOptions,
  first: DeviceId = 0,
): readonly FittedDevice[] {
  const { policy, train, evaluation } = options;
  const all = limitsOf(bufferRows(policy, train, evaluation), options);
  const places = placesOf(kernels);
  return specs.map((spec, i) => {
    const info = deviceInfo(first + i, policy.maxBatchRows, spec);
    if (isGpujsSpec(spec)) {
      const bytes = bytesOnDevice(info, all, kernels[i]!, parameterLayout(options.shape), options);
      return { info, limits: all, memory: { bytes, room: null, loweredTo: null } };
    }
    const place = places[i];
    if (!place) return { info, limits: all, memory: null };
    return fit(spec, { info, limits: all }, kernels[i]!, place, options);
  });
}

/** A GPU, and how much of its memory one device may have. */
interface Place {
  readonly name: string;
  readonly memory: DeviceMemory;
  readonly room: number;
}

/** Where kernels have GPUs' memory; null for others. Each GPU is asked once. */
function placesOf(kernels: readonly KernelsDescription[]): readonly (Place | null)[] {
  const gpus = kernels.map((one) => (one.name === "cuda" || one.name === "opencl" ? one : null));
  const keys = gpus.map((gpu) => gpu && `${gpu.name}:${gpu.index}`);
  const memories = new Map<string, DeviceMemory>();
  return gpus.map((gpu, i) => {
    if (gpu === null) return null;
    const key = keys[i]!;
    const asked = { technology: gpu.name, index: gpu.index };
    const memory = memories.get(key) ?? gpuMemory(asked);
    memories.set(key, memory);
    const sharing = keys.filter((other) => other === key).length;
    const room = Math.floor((USABLE * (memory.free ?? memory.total)) / sharing);
    return { name: gpu.device, memory, room };
  });
}

/** @param most - what the device would be with all the memory that it likes. */
function fit(
  spec: DeviceSpec,
  most: Omit<FittedDevice, "memory">,
  kernels: KernelsDescription,
  { name, memory, room }: Place,
  options: FitOptions,
): FittedDevice {
  const layout = parameterLayout(options.shape);
  const need = (limits: BatchLimits) => bytesOnDevice(most.info, limits, kernels, layout, options);
  const all = need(most.limits);
  if (all <= room) return { ...most, memory: { bytes: all, room, loweredTo: null } };
  const device = `${formatDevice(spec)} (${name})`;
  const has = `${device} has ${inWords(room)} for a run, of ${partInWords(memory)}`;
  const least = need(limitsOf(1, options));
  if (least > room) {
    throw tooLittle(
      `${has}, but this one needs ${inWords(least)} there: take smaller hidden layers, plain SGD or other devices`,
    );
  }
  let [fits, fails] = [1, most.limits.rows];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (need(limitsOf(middle, options)) <= room) fits = middle;
    else fails = middle;
  }
  const limits = limitsOf(fits, options);
  const wanted = most.info.maxBatchRows;
  // What is evaluated at once may be less without a word.
  const loweredTo = fits < Math.min(wanted, options.train.rows) ? fits : null;
  if (loweredTo !== null && options.require === true) {
    throw tooLittle(
      `${has}, but batches of ${wanted} rows need ${inWords(all)}: take batches of at most ${fits} rows`,
    );
  }
  const info = loweredTo === null ? most.info : { ...most.info, maxBatchRows: loweredTo };
  return { info, limits, memory: { bytes: need(limits), room, loweredTo } };
}

function limitsOf(rows: number, { train, evaluation }: FitOptions): BatchLimits {
  return batchLimits(rows, [train, evaluation]);
}

/** Models, activations, batches and what the kernels work in. */
function bytesOnDevice(
  info: DeviceInfo,
  limits: BatchLimits,
  kernels: KernelsDescription,
  layout: ParameterLayout,
  { evaluation, rule, policy }: FitOptions,
): number {
  const { replicas, accumulators } = ownModelCounts(policy.models([info]), info.id);
  const evaluated = evaluation === null ? 0 : 1;
  const arrays = replicas * (1 + optimizerStateArrays(rule)) + accumulators + evaluated;
  const { work } = networkBytes(layout, { maxRows: limits.rows, optimizer: rule });
  return arrays * layout.length * 4 + work + deviceKernelsBytes(kernels, layout, limits, rule);
}

function partInWords({ free, total }: DeviceMemory): string {
  return free === null
    ? `${inWords(total)} in all`
    : `${inWords(free)} that are free and ${inWords(total)} in all`;
}

function inWords(bytes: number): string {
  const gibibyte = 2 ** 30;
  return bytes < gibibyte
    ? `${(bytes / 2 ** 20).toFixed(1)} MiB`
    : `${(bytes / gibibyte).toFixed(2)} GiB`;
}

function tooLittle(message: string): TrainerError {
  return new TrainerError("DEVICE_MEMORY", message);
}
