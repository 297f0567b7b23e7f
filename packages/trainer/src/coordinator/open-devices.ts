import type { ModelShape, UpdateRule } from "@heterosgd/model";
import type { ModelName } from "@heterosgd/scheduler";
import type { BatchLimits } from "../device/api.js";
import type { KernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { createKernelMemory, kernelsSetup } from "../device/kernel-memory.js";
import { startDevice, type SupervisedDevice } from "../device/supervisor.js";
import { attachCall, collectModels, ownModelCounts, takeSharedModels } from "./device-models.js";
import type { ModelTable } from "./model-table.js";

const OPEN_TIMEOUT_MS = 300_000;
const CLOSE_TIMEOUT_MS = 60_000;

export interface OpenDevicesOptions {
  readonly devices: readonly DeviceSpec[];
  /** What runs on each of them. */
  readonly kernels: readonly KernelsDescription[];
  readonly shape: ModelShape;
  readonly rule: UpdateRule | null;
  readonly train: SharedArrayBuffer | null;
  readonly evaluation: SharedArrayBuffer | null;
  readonly limits: BatchLimits;
  readonly cutoffs: readonly number[];
  /** All models that must exist. */
  readonly models: readonly ModelName[];
  /** Default: the worker beside this module. */
  readonly workerUrl?: URL | undefined;
}

export interface OpenDevices {
  readonly devices: readonly SupervisedDevice[];
  readonly models: ModelTable;
  /** What runs on each device, as the kernels name themselves. */
  readonly kernels: readonly string[];
  /** Closes every device that is still there, and waits for its worker to end. */
  close(): Promise<void>;
}

function deviceName(id: number, spec: DeviceSpec): string {
  return `device ${id} (${formatDevice(spec)})`;
}

/**
 * Starts a worker for each device, has each take its memory, and makes all models known to all.
 *
 * @throws TrainerError or the device's own error, if any device cannot be opened; none is left
 * running.
 */
export async function openDevices(options: OpenDevicesOptions): Promise<OpenDevices> {
  const { devices: specs, kernels: chosen, models: names, workerUrl, ...setup } = options;
  const memory = createKernelMemory(chosen);
  const started = specs.map((spec, id) => startDevice(deviceName(id, spec), workerUrl));
  try {
    const opening = Promise.all(
      started.map((device, id) =>
        device.call(OPEN_TIMEOUT_MS, (api) =>
          api.open({
            ...setup,
            ...ownModelCounts(names, id),
            id,
            kernels: kernelsSetup(chosen[id]!, memory),
            speed: specs[id]!.speed,
          }),
        ),
      ),
    );
    opening.catch(() => undefined);
    // Fresh memory takes its time: here it is taken while the devices take theirs.
    const shared = takeSharedModels(names, setup.shape, setup.rule, memory);
    const opened = await opening;
    const models = collectModels(names, opened, shared);
    await Promise.all(
      started.map((device, id) =>
        device.call(OPEN_TIMEOUT_MS, (api) => api.attach(attachCall(models, names, id))),
      ),
    );
    return {
      devices: started,
      models,
      kernels: opened.map(({ kernels }) => kernels),
      close: async () =>
        void (await Promise.allSettled(started.map((device) => device.close(CLOSE_TIMEOUT_MS)))),
    };
  } catch (error) {
    await Promise.all(started.map((device) => device.terminate()));
    throw error;
  }
}
