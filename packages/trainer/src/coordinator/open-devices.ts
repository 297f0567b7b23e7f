import { optimizerStateArrays, type ModelShape, type UpdateRule } from "@heterosgd/model";
import type { DeviceId, ModelName } from "@heterosgd/scheduler";
import type { BatchLimits, DeviceOpened, ModelMemory } from "../device/api.js";
import { isGpu, type KernelsDescription } from "../device/device-kernels.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { createKernelMemory, kernelsSetup } from "../device/kernel-memory.js";
import { startDevice, type SupervisedDevice } from "../device/supervisor.js";
import {
  attachCall,
  collectModels,
  openedModels,
  ownModelCounts,
  takeSharedModels,
} from "./device-models.js";
import { ownerOf, type ModelTable } from "./model-table.js";
import { checkOpened } from "./replies.js";

const OPEN_TIMEOUT_MS = 300_000;
const CLOSE_TIMEOUT_MS = 60_000;
/** For a worker with a graphics context to end by itself. */
const LEAVE_MS = 20_000;

export interface OpenDevicesOptions {
  readonly devices: readonly DeviceSpec[];
  /** What runs on each of them. */
  readonly kernels: readonly KernelsDescription[];
  readonly shape: ModelShape;
  readonly rule: UpdateRule | null;
  readonly train: SharedArrayBuffer | null;
  readonly evaluation: SharedArrayBuffer | null;
  /** By device. */
  readonly limits: readonly BatchLimits[];
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
  /**
   * Opens one more device, which is to have the id `id`. It knows no models yet but its own, and nobody knows
   * those.
   *
   * @param names - the models that must exist for it; those that are not its own exist.
   * @param spare - memory for its own that nobody uses any more; left out: it is taken anew.
   * @throws TrainerError or the device's own error if it can't be opened.
   */
  add(
    id: DeviceId,
    spec: DeviceSpec,
    kernels: KernelsDescription,
    limits: BatchLimits,
    names: readonly ModelName[],
    spare?: readonly ModelMemory[],
  ): Promise<AddedDevice>;
  /** Has the devices that own these models take over what was written to them. */
  refresh(names: readonly ModelName[]): Promise<void>;
  /** Closes every device that is still there, and waits for its worker to end. */
  close(): Promise<void>;
}

/** A device that was opened later than the others. */
export interface AddedDevice {
  readonly device: SupervisedDevice;
  /** What runs on it, as the kernels name themselves. */
  readonly kernels: string;
  readonly models: ReadonlyMap<ModelName, ModelMemory>;
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
  const { devices: specs, kernels: chosen, limits, models: names, workerUrl, ...setup } = options;
  const memory = createKernelMemory(chosen);
  // Whatever has been started must be ended.
  const started: SupervisedDevice[] = [];
  /** Those that may be ended while they are being opened: nobody but their process gave them memory. */
  const mayBeEnded = new Set<SupervisedDevice>();

  function start(id: DeviceId, spec: DeviceSpec): SupervisedDevice {
    const leaveMs = spec.kind === "gpujs" ? LEAVE_MS : 0;
    const device = startDevice(deviceName(id, spec), { workerUrl, leaveMs });
    started.push(device);
    return device;
  }

  async function open(
    device: SupervisedDevice,
    id: DeviceId,
    spec: DeviceSpec,
    kernels: KernelsDescription,
    most: BatchLimits,
    models: readonly ModelName[],
    spare?: readonly ModelMemory[],
  ): Promise<DeviceOpened> {
    const counts = ownModelCounts(models, id);
    const opened = await device.call(OPEN_TIMEOUT_MS, (api) =>
      api.open({
        ...setup,
        ...counts,
        limits: most,
        id,
        kernels: kernelsSetup(kernels, memory),
        speed: spec.speed,
        spare,
      }),
    );
    checkOpened(device.name, opened, counts, setup.shape, optimizerStateArrays(setup.rule));
    return opened;
  }

  const devices = specs.map((spec, id) => start(id, spec));
  try {
    const opening = Promise.all(
      devices.map((device, id) => open(device, id, specs[id]!, chosen[id]!, limits[id]!, names)),
    );
    opening.catch(() => undefined);
    // Fresh memory takes its time: here it is taken while the devices take theirs.
    const shared = takeSharedModels(names, setup.shape, setup.rule, memory);
    const opened = await opening;
    const models = collectModels(names, opened, shared);
    await Promise.all(
      devices.map((device, id) =>
        device.call(OPEN_TIMEOUT_MS, (api) => api.attach(attachCall(models, names, id))),
      ),
    );
    return {
      devices,
      models,
      kernels: opened.map(({ kernels }) => kernels),
      async add(id, spec, kernels, most, added, spare) {
        const device = start(id, spec);
        if (!isGpu(kernels)) mayBeEnded.add(device);
        try {
          const its = await open(device, id, spec, kernels, most, added, spare);
          return { device, kernels: its.kernels, models: openedModels(added, id, its) };
        } catch (error) {
          await device.terminate();
          throw error;
        } finally {
          mayBeEnded.delete(device);
        }
      },
      async refresh(changed) {
        for (const name of changed) {
          const owner = ownerOf(name);
          if (owner === null) continue;
          await devices[owner]!.call(OPEN_TIMEOUT_MS, (api) => api.refresh(models.slot(name)));
        }
      },
      close: async () =>
        void (await Promise.allSettled(
          started.map((device) =>
            mayBeEnded.has(device) ? device.terminate() : device.close(CLOSE_TIMEOUT_MS),
          ),
        )),
    };
  } catch (error) {
    await Promise.all(started.map((device) => device.terminate()));
    throw error;
  }
}
