import {
  createMetrics,
  defaultCutoffs,
  metricsOf,
  parameterLayout,
  type Metrics,
  type ModelShape,
} from "@heterosgd/model";
import type { Dataset } from "@heterosgd/sparse";
import { createDeviceExecutor } from "../coordinator/device-executor.js";
import { openDevices } from "../coordinator/open-devices.js";
import type { DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { requireFit } from "./data-fit.js";
import { withGpujs } from "./choose-gpujs.js";
import { chooseKernels, type KernelsOptions } from "./choose-kernels.js";
import { noDevices } from "./no-devices.js";
import { batchLimits } from "./batch-limits.js";
import { evaluationChunk, usableCutoffs } from "./evaluation-plan.js";

export interface EvaluateModelOptions extends KernelsOptions {
  readonly shape: ModelShape;
  /** Laid out by `parameterLayout(shape)`. */
  readonly parameters: Float32Array;
  readonly dataset: Dataset<SharedArrayBuffer>;
  readonly devices: readonly DeviceSpec[];
  /** Rows that a device scores at once. Default 128. */
  readonly batchRows?: number;
  /** Cut-offs k, ascending; those above the number of labels are left out. Default 1, 3, 5. */
  readonly cutoffs?: readonly number[];
  /** Where the entry of the devices' workers lies, if not beside this module. */
  readonly workerUrl?: URL;
}

/**
 * Evaluates a model on a whole data set, its rows shared out over all devices as they become free.
 *
 * @throws TrainerError NO_DEVICES (none was named, or every one was lost), DATA_MISMATCH,
 * KERNELS_UNAVAILABLE, DEVICE_SPEC (more threads than the kernels have), or what a device reported
 * when it could not be opened.
 */
export async function evaluateModel(options: EvaluateModelOptions): Promise<Metrics> {
  const { shape, parameters, dataset, devices, batchRows = 128 } = options;
  const layout = parameterLayout(shape);
  const cutoffs = usableCutoffs(options.cutoffs ?? defaultCutoffs, shape.labels);
  if (devices.length === 0) throw new TrainerError("NO_DEVICES", "no device was named");
  requireFit("data set", dataset, shape);
  const limits = batchLimits(batchRows, [dataset]);
  const open = await openDevices({
    devices,
    kernels: chooseKernels(devices, await withGpujs(options, devices)).devices,
    shape,
    rule: null,
    train: null,
    evaluation: dataset.buffer,
    limits: devices.map(() => limits),
    cutoffs,
    models: ["global"],
    workerUrl: options.workerUrl,
  });
  try {
    open.models.memory("global").parameters.set(parameters);
    let sums = createMetrics(cutoffs);
    const executor = createDeviceExecutor({
      devices: open.devices,
      models: open.models,
      modelLength: layout.length,
      trainRows: 0,
      seed: 0,
      evaluationRows: dataset.rows,
      evaluationChunk: evaluationChunk(dataset.rows, devices.length, batchRows),
      onEvaluated: (_, all) => (sums = all),
    });
    executor.execute({ type: "evaluate", id: 0 });
    for (let lost = 0; ;) {
      const event = await executor.next();
      if (event.type === "evaluated") return metricsOf(sums);
      if (event.type === "lost" && ++lost === devices.length) {
        throw noDevices("evaluate", executor.losses());
      }
    }
  } finally {
    await open.close();
  }
}
