/** Devices in this thread: the code of real ones, without workers, clocks or handicaps. */
import {
  initialise,
  parameterLayout,
  rowNorm,
  type ModelShape,
  type UpdateRule,
} from "@heterosgd/model";
import type { ModelName } from "@heterosgd/scheduler";
import type { Dataset } from "@heterosgd/sparse";
import type { BatchLimits, DeviceApi, DeviceOpened } from "../device/api.js";
import { createDeviceHost } from "../device/device-host.js";
import { createDeviceKernels, type KernelsDescription } from "../device/device-kernels.js";
import { createKernelMemory, kernelsSetup } from "../device/kernel-memory.js";
import { attachCall, collectModels, ownModelCounts, takeSharedModels } from "./device-models.js";
import type { ModelTable } from "./model-table.js";

export interface OpenHostsOptions {
  /** What runs on each device. */
  readonly kernels: readonly KernelsDescription[];
  readonly shape: ModelShape;
  readonly rule: UpdateRule | null;
  readonly train: Dataset<SharedArrayBuffer>;
  readonly evaluation: Dataset<SharedArrayBuffer> | null;
  /** By device. */
  readonly limits: readonly BatchLimits[];
  readonly cutoffs: readonly number[];
  /** All models that must exist. */
  readonly models: readonly ModelName[];
  readonly seed: number;
  /** Multiplies the initial weights. */
  readonly initialScale: number;
}

export interface OpenHosts {
  /** By device id. */
  readonly hosts: readonly DeviceApi[];
  /** `global` is initialised. */
  readonly models: ModelTable;
  /** What runs on each device, as the kernels name themselves. */
  readonly kernels: readonly string[];
  close(): Promise<void>;
}

/** gpu.js must not be loaded in this thread, which would then have its graphics driver to itself. */
function outsideOfThisThread(kernels: KernelsDescription): KernelsDescription {
  return kernels.name === "gpujs" ? { ...kernels, isolation: "process" } : kernels;
}

/** Opens the devices, one after another, and makes all models known to all. */
export async function openHosts(options: OpenHostsOptions): Promise<OpenHosts> {
  const { kernels, shape, rule, train, evaluation, models: names, limits, cutoffs } = options;
  const memory = createKernelMemory(kernels);
  const hosts: DeviceApi[] = [];
  const opened: DeviceOpened[] = [];
  for (const [id, description] of kernels.entries()) {
    const host = createDeviceHost({
      createKernels: (setup) => createDeviceKernels(setup.kernels),
      now: () => 0,
      idle: () => undefined,
    });
    hosts.push(host);
    opened.push(
      await host.open({
        ...ownModelCounts(names, id),
        id,
        kernels: kernelsSetup(outsideOfThisThread(description), memory),
        speed: 1,
        shape,
        rule,
        train: train.buffer,
        evaluation: evaluation?.buffer ?? null,
        limits: limits[id]!,
        cutoffs,
      }),
    );
  }
  const models = collectModels(names, opened, takeSharedModels(names, shape, rule, memory));
  for (const [id, host] of hosts.entries()) await host.attach(attachCall(models, names, id));
  initialise(parameterLayout(shape), models.memory("global").parameters, options.seed, {
    rowNorm: rowNorm(train.features),
    scale: options.initialScale,
  });
  return {
    hosts,
    models,
    kernels: opened.map((device) => device.kernels),
    close: async () => void (await Promise.all(hosts.map((host) => host.close()))),
  };
}
