/** Whether what a device is to hold fits into its own memory, and how many rows a batch may have there. */
import {
  networkBytes,
  optimizerStateArrays,
  parameterLayout,
  type ParameterLayout,
} from "@heterosgd/model";
import type { DeviceId, DeviceInfo } from "@heterosgd/scheduler";
import type { GpuDevice } from "@heterosgd/gpu-kernels";
import { ownModelCounts } from "../coordinator/device-models.js";
import { deviceKernelsBytes, type KernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { deviceLimits } from "./batch-limits.js";
import { findGpu, isGpuSpec } from "./choose-gpu.js";
import { deviceInfo } from "./device-info.js";
import type { TrainOptions } from "./train.js";

/** The driver keeps some for itself, and others may have some. */
const USABLE = 0.9;

/** What a run asks of a device's own memory, in bytes. */
export interface GpuMemory {
  readonly bytes: number;
  /** What there is for it. */
  readonly room: number;
  /** Rows that a batch may have for want of memory; null where it may have all that the algorithm wants. */
  readonly loweredTo: number | null;
}

/** A device of a run: as its policy sees it, and what it takes of its own memory, null without any. */
export interface FittedDevice {
  readonly info: DeviceInfo;
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
  const places = specs.map((spec) => (isGpuSpec(spec) ? findGpu(spec) : null));
  return specs.map((spec, i) => {
    const info = deviceInfo(first + i, options.policy.maxBatchRows, spec);
    const gpu = places[i];
    if (!gpu) return { info, memory: null };
    const sharing = places.filter((other) => other !== null && isSame(other, gpu)).length;
    return fit(spec, info, kernels[i]!, Math.floor((gpu.memory * USABLE) / sharing), gpu, options);
  });
}

const isSame = (a: GpuDevice, b: GpuDevice): boolean =>
  a.technology === b.technology && a.index === b.index;

function fit(
  spec: DeviceSpec,
  info: DeviceInfo,
  kernels: KernelsDescription,
  room: number,
  { name }: GpuDevice,
  options: FitOptions,
): FittedDevice {
  const layout = parameterLayout(options.shape);
  const withRows = (maxBatchRows: number): DeviceInfo => ({ ...info, maxBatchRows });
  const need = (rows: number) => bytesOnDevice(withRows(rows), kernels, layout, options);
  const wanted = info.maxBatchRows;
  const all = need(wanted);
  if (all <= room) return { info, memory: { bytes: all, room, loweredTo: null } };
  const device = `${formatDevice(spec)} (${name})`;
  const least = need(1);
  if (least > room) {
    throw tooLittle(
      `${device} has ${gibibytes(room)} for a run, but this one needs ${gibibytes(least)} there: take smaller hidden layers, plain SGD or other devices`,
    );
  }
  let [fits, fails] = [1, wanted];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (need(middle) <= room) fits = middle;
    else fails = middle;
  }
  if (options.require === true) {
    throw tooLittle(
      `${device} has ${gibibytes(room)} for a run, but batches of ${wanted} rows need ${gibibytes(all)}: take batches of at most ${fits} rows`,
    );
  }
  return { info: withRows(fits), memory: { bytes: need(fits), room, loweredTo: fits } };
}

/** Models, activations, batches and what the kernels work in. */
function bytesOnDevice(
  info: DeviceInfo,
  kernels: KernelsDescription,
  layout: ParameterLayout,
  { train, evaluation, rule, policy }: FitOptions,
): number {
  const limits = deviceLimits(info, train, evaluation);
  const { replicas, accumulators } = ownModelCounts(policy.models([info]), info.id);
  const evaluated = evaluation === null ? 0 : 1;
  const arrays = replicas * (1 + optimizerStateArrays(rule)) + accumulators + evaluated;
  const { work } = networkBytes(layout, { maxRows: limits.rows, optimizer: rule });
  return arrays * layout.length * 4 + work + deviceKernelsBytes(kernels, layout, limits, rule);
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

function tooLittle(message: string): TrainerError {
  return new TrainerError("DEVICE_MEMORY", message);
}
