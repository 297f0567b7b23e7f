/** What a run does about devices that are lost, and about those that come while it goes on. */
import type { ParameterLayout } from "@heterosgd/model";
import type { DeviceId, DeviceInfo } from "@heterosgd/scheduler";
import type { DeviceExecutor } from "../coordinator/device-executor.js";
import { ownModelCounts } from "../coordinator/device-models.js";
import type { OpenDevices } from "../coordinator/open-devices.js";
import type { PaceLimits } from "../coordinator/pace.js";
import {
  createReplacements,
  type ReplacementLimits,
  type Replacements,
} from "../coordinator/replacements.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { withGpujs } from "./choose-gpujs.js";
import { chooseKernels } from "./choose-kernels.js";
import { fitDevices, type FitOptions } from "./memory-gpu.js";
import type { JoinedRecord, LostRecord, RetryFailedRecord } from "./run-event.js";
import type { TrainOptions } from "./train.js";

/** Changes a run's devices while it goes on. */
export interface DeviceControl {
  /**
   * Opens one more device. It takes part as soon as the algorithm takes devices in, in evaluations and
   * merges too.
   *
   * @returns its id, once it has joined.
   * @throws TrainerError RUN_OVER; DEVICE_SPEC or KERNELS_UNAVAILABLE (it can't be had here); SchedulerError INVALID_SETUP
   * (the algorithm has no use for it); or what the device reported when it could not be opened. The run goes on.
   */
  add(device: DeviceSpec): Promise<DeviceId>;
}

export interface DeviceControlOptions {
  /**
   * How often each device that was named or added is opened anew after it was lost, as a new device.
   * One whose thread can't be ended is not. Default 2.
   */
  readonly deviceRetries?: number;
  /** Milliseconds before a device is opened anew the first time; then twice as long. Default 1000. */
  readonly retryDelayMs?: number;
  /**
   * Winds the run up with NO_DEVICES when fewer devices are left, those that are being opened anew
   * included. Default 1.
   */
  readonly minDevices?: number;
  /** How long devices may take to answer before they are lost. */
  readonly pace?: PaceLimits;
  /** Told once, when training begins, how to add devices. */
  readonly onReady?: (control: DeviceControl) => void;
}

/** @throws TrainerError BAD_OPTION */
export function replacementLimits(
  { deviceRetries = 2, retryDelayMs = 1000, minDevices = 1 }: DeviceControlOptions,
  devices: number,
): ReplacementLimits {
  requireCount("deviceRetries", deviceRetries, 0);
  requireCount("retryDelayMs", retryDelayMs, 0);
  requireCount("minDevices", minDevices, 1);
  if (minDevices > devices) {
    throw new TrainerError(
      "BAD_OPTION",
      `the run needs ${minDevices} devices (minDevices), but ${devices} ${devices === 1 ? "is" : "are"} named; name more, or ask for fewer`,
    );
  }
  return { retries: deviceRetries, delayMs: retryDelayMs, minDevices };
}

function requireCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new TrainerError(
    "BAD_OPTION",
    `${name} is ${value}, expected a whole number of at least ${least}`,
  );
}

/** What a run's devices and its executor are, once they are there. */
export interface ControlledRun {
  readonly open: OpenDevices;
  readonly executor: Pick<DeviceExecutor, "post" | "join" | "living" | "release" | "fail">;
  readonly layout: ParameterLayout;
  readonly limits: ReplacementLimits;
  readonly onRetryFailed: (record: RetryFailedRecord) => void;
  /** Told how many devices are left where that is too few; the run is being wound up then. */
  readonly onTooFew: (left: number) => void;
}

/** Has lost devices replaced and others added, for as long as the run goes on. */
export function controlDevices(
  { open, executor, layout, limits: replacing, onRetryFailed, onTooFew }: ControlledRun,
  options: FitOptions & Pick<TrainOptions, "devices" | "kernels" | "bf16" | "gpujs">,
): Replacements {
  const { policy, train, devices } = options;
  let next = devices.length;

  /** @throws SchedulerError INVALID_SETUP, as the policy would when it joins. */
  function requireUse(device: DeviceInfo): void {
    policy.start({ devices: [device], rows: train.rows, parameters: layout.parameterCount });
  }

  return createReplacements({
    ...replacing,
    devices,
    async open(spec, replaces) {
      const id = next;
      const [runs] = chooseKernels([spec], await withGpujs(options, [spec])).devices;
      const { info, limits } = fitDevices([spec], [runs!], options, id)[0]!;
      requireUse(info);
      const names = policy.models([info]);
      const spare = executor.release(ownModelCounts(names, id));
      const added = await open.add(id, spec, runs!, limits, names, spare);
      return () => {
        const { device, kernels } = added;
        const { name } = device;
        const event: JoinedRecord = {
          type: "joined",
          device: info,
          name,
          spec: formatDevice(spec),
          kernels,
          runs: runs!,
          replaces,
        };
        executor.join(added, event);
        next++;
        return id;
      };
    },
    living: () => executor.living().length,
    onLost(loss) {
      const event: LostRecord = { type: "lost", ...loss };
      executor.post(event);
    },
    onRetryFailed: (failed) => onRetryFailed({ type: "retry-failed", ...failed }),
    onTooFew(left) {
      onTooFew(left);
      executor.post({ type: "finish", reason: "devices" });
    },
    onFailure: executor.fail,
  });
}
