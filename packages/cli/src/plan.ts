/** From a configuration and data to everything that a run needs. */
import { availableParallelism } from "node:os";
import { describeShape, parameterLayout, type ModelShape } from "@heterosgd/model";
import {
  chooseKernels,
  defaultDevices,
  estimateMemory,
  formatDevice,
  parseDevices,
  parseSimulatedDevices,
  parseTarget,
  type ChosenKernels,
  type DeviceSpec,
  type GpujsSupport,
  type MemoryEstimate,
  type Profile,
  type ProfileDevice,
  type TrainOptions,
} from "@heterosgd/trainer";
import { createPolicy } from "./algorithms.js";
import type { DecidedConfig } from "./config/complete.js";
import { identityOf } from "./config/resumed.js";
import type { TrainingData } from "./data.js";
import { deviceRole, suitableProfiles, usefulDevices } from "./config/default-profile.js";
import { CliError } from "./errors.js";
import { optimizers } from "./optimizers.js";
import { formatCount, parseDuration } from "./output/format.js";

/** All that is settled before a run begins. */
export interface Plan {
  readonly config: DecidedConfig;
  readonly data: TrainingData;
  readonly shape: ModelShape;
  readonly parameters: number;
  readonly kernels: ChosenKernels;
  readonly options: Omit<TrainOptions, "signal" | "onEvent" | "checkpoints">;
  /** When checkpoints are written and what they take, null where there are none. */
  readonly checkpoints: PlannedCheckpoints | null;
  /** What stands in for the devices, null for a real run. */
  readonly simulation: Simulation | null;
  readonly memory: MemoryEstimate;
}

export interface PlannedCheckpoints {
  /** Bytes of one on the disk, label names and the like left out. */
  readonly each: number;
  /** Of as many as there may be at once: those that are kept, the best one, one being written. */
  readonly disk: number;
  /** Between those that are due by time. */
  readonly everySeconds: number | null;
  readonly keep: number;
  /** What must be the same when the run is resumed. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

export interface Simulation {
  readonly profile: Profile;
  readonly devices: readonly ProfileDevice[];
}

/** The devices that a text names; `auto`: the processor, a device a core. @throws TrainerError DEVICE_SPEC */
export function devicesFor(text: string): readonly DeviceSpec[] {
  return text === "auto" ? defaultDevices(availableParallelism()) : parseDevices(text);
}

/**
 * Finds what can be found wrong before any data is read.
 *
 * @throws TrainerError DEVICE_SPEC, KERNELS_UNAVAILABLE, BAD_OPTION; SchedulerError INVALID_OPTION,
 * INVALID_SETUP; MergeError INVALID_OPTION; CliError CONFLICT
 */
export function checkEarly(
  config: DecidedConfig,
  profile: Profile | null = null,
  gpujs?: GpujsSupport,
): void {
  const devices = devicesOf(config, simulationOf(config, profile));
  chooseKernels(devices, { ...config, gpujs });
  if (config.target !== null) parseTarget(config.target);
  const policy = createPolicy(config);
  if (profile === null && config.minDevices > devices.length) {
    throw new CliError(
      "CONFLICT",
      `--min-devices is ${config.minDevices}, but ${devices.length === 1 ? "1 device is" : `${devices.length} devices are`} named`,
      { hint: "name more, or ask for fewer" },
    );
  }
  // Says whether the algorithm has a use for all of them; nothing comes of it until it is executed.
  const infos = devices.map(({ role }, id) => ({ id, role, maxBatchRows: policy.maxBatchRows }));
  policy.start({ devices: infos, rows: 1, parameters: 1 });
}

/** Elements that an array has room for. */
const MOST_PARAMETERS = 2 ** 32;

/**
 * The simulated devices of a configuration.
 *
 * @throws TrainerError DEVICE_SPEC; CliError CONFLICT if the algorithm has a use for none of them.
 */
function simulationOf(
  { algorithm, devices }: DecidedConfig,
  profile: Profile | null,
): Simulation | null {
  if (profile === null) return null;
  if (devices !== "auto") return { profile, devices: parseSimulatedDevices(devices, profile) };
  const useful = usefulDevices(profile, algorithm);
  if (useful.length > 0) return { profile, devices: useful };
  const roles = [...new Set(profile.devices.map((device) => deviceRole(profile, device)))];
  throw new CliError(
    "CONFLICT",
    `the profile ${profile.name} has no device that --algorithm ${algorithm} has a use for, but ${roles.join(" and ")} devices`,
    {
      hint: `of the profiles that are shipped it can take ${suitableProfiles(algorithm).join(", ")}`,
    },
  );
}

/** The devices that a configuration names; one that computes for each simulated one. */
function devicesOf({ devices }: DecidedConfig, simulation: Simulation | null) {
  if (simulation === null) return devicesFor(devices);
  return simulation.devices.map((device): DeviceSpec => ({
    kind: "cpu",
    threads: 1,
    speed: 1,
    role: deviceRole(simulation.profile, device),
  }));
}

/**
 * @param profile - of the devices that are simulated, null for real ones.
 * @param gpujs - what it offers here, where one of the devices runs on it.
 * @throws CliError CONFLICT if the data does not go with the configuration.
 */
export function planRun(
  decided: DecidedConfig,
  data: TrainingData,
  profile: Profile | null = null,
  gpujs?: GpujsSupport,
): Plan {
  const simulation = simulationOf(decided, profile);
  const devices = devicesOf(decided, simulation);
  const config: DecidedConfig = {
    ...decided,
    // By name, so that the stored configuration means the same on another machine.
    ...(simulation === null ? { devices: devices.map(formatDevice).join(",") } : {}),
  };
  const shape: ModelShape = {
    features: data.train.features.columns,
    hidden: config.hidden,
    labels: data.labels,
    activation: config.activation,
    loss: config.loss,
  };
  const layout = parameterLayout(shape);
  if (layout.length > MOST_PARAMETERS) {
    throw new CliError(
      "CONFLICT",
      `the network would have ${formatCount(layout.parameterCount)} parameters (${describeShape(shape)}), more than there is room for (${formatCount(MOST_PARAMETERS)})`,
      { hint: "take smaller hidden layers" },
    );
  }
  const target = config.target === null ? null : parseTarget(config.target);
  if (target !== null && target.k > data.labels) {
    throw new CliError(
      "CONFLICT",
      `--target is ${config.target}, but the data has only ${data.labels} labels`,
    );
  }
  const options: Plan["options"] = {
    train: data.train,
    evaluation: data.evaluation,
    shape,
    rule: optimizers[config.optimizer].rule,
    devices,
    kernels: config.kernels,
    bf16: config.bf16,
    require: config.require,
    gpujs,
    policy: createPolicy(config),
    seed: config.seed,
    initialScale: config.initialScale,
    cutoffs: target === null ? config.cutoffs : withCutoff(config.cutoffs, target.k),
    ...(config.maxTime === null ? {} : { maxSeconds: parseDuration(config.maxTime) }),
    ...(target === null ? {} : { target }),
    ...(config.patience === null ? {} : { patience: { evaluations: config.patience } }),
    minDevices: config.minDevices,
    deviceRetries: config.deviceRetries,
  };
  const memory = estimateMemory({
    ...options,
    savesCheckpoints: config.checkpointEvery !== "never",
    isSimulated: simulation !== null,
  });
  const kernels = chooseKernels(devices, options);
  return {
    config,
    data,
    shape,
    parameters: layout.parameterCount,
    kernels,
    options,
    checkpoints: planCheckpoints(config, memory.checkpoints, data.labelNames),
    simulation,
    memory,
  };
}

/** @param each - bytes of the models of one, which are copied before they are written. */
function planCheckpoints(
  config: DecidedConfig,
  each: number,
  labelNames: readonly string[] | null,
): PlannedCheckpoints | null {
  const { checkpointEvery: when, keep } = config;
  if (when === "never") return null;
  const isTime = typeof when === "string" && when !== "epoch" && when !== "merge";
  return {
    each,
    disk: each * (keep + 2),
    everySeconds: isTime ? parseDuration(when) : null,
    keep,
    configuration: { ...identityOf(config), labelNames },
  };
}

function withCutoff(cutoffs: readonly number[], k: number): readonly number[] {
  return [...new Set([...cutoffs, k])].toSorted((a, b) => a - b);
}
