import {
  activations,
  losses,
  parameterLayout,
  type Metrics,
  type ModelShape,
  type ParameterLayout,
  type UpdateRule,
} from "@heterosgd/model";
import type { DeviceInfo, ModelName } from "@heterosgd/scheduler";
import type {
  CpuKernelsDescription,
  GpuKernelsDescription,
  GpujsKernelsDescription,
  KernelsDescription,
} from "../device/device-kernels.js";
import { TrainerError } from "../errors.js";
import type { PatienceState } from "../run/stop-rules.js";
import {
  amount,
  boolean,
  count,
  digest,
  finite,
  json,
  listOf,
  members,
  nullable,
  oneOf,
  recordOf,
  refuse,
  text,
  wholeNumber,
  type Check,
} from "./checks.js";
import { modelName } from "./model-names.js";

/** A device that a checkpoint's run had. */
export interface CheckpointDevice {
  /** As `formatDevice` or `formatSimulatedDevice` writes it. */
  readonly spec: string;
  readonly runs: KernelsDescription;
  readonly info: DeviceInfo;
  /** Whether it was there; else it was lost, or was to join later. */
  readonly isThere: boolean;
}

/** Where the lines end that belong to a checkpoint, in a run's event stream. */
export interface EventsPosition {
  readonly bytes: number;
  readonly lines: number;
}

export interface Fingerprints {
  /** Of the data sets' buffers. */
  readonly train: string;
  readonly evaluation: string | null;
  /** As `fingerprintConfiguration` takes them. */
  readonly configuration: Readonly<Record<string, string>>;
}

/** All that a checkpoint holds but the models' arrays: `state.json`. */
export interface CheckpointRecord {
  /** Which program wrote it, and its version; for messages only. */
  readonly program: string;
  /** Updates made, of all devices together. */
  readonly step: number;
  readonly algorithm: string;
  /** The policy's state, which only the policy can check. */
  readonly policy: unknown;
  readonly shape: ModelShape;
  readonly optimizer: UpdateRule | null;
  readonly seed: number;
  readonly trainRows: number;
  readonly evaluationRows: number;
  /** `global` first. */
  readonly models: readonly {
    readonly name: ModelName;
    /** Updates that it has received. */
    readonly updates: number;
  }[];
  /** By device id. */
  readonly devices: readonly CheckpointDevice[];
  /** State of the simulator, which only the simulator can check; null for real devices. */
  readonly executor: unknown;
  /** Training rows done, merges and rounds made, seconds of training. */
  readonly rows: number;
  readonly merges: number;
  readonly seconds: number;
  /** Of the evaluation of this very model; null if there was none. */
  readonly metrics: Metrics | null;
  readonly patience: PatienceState;
  /** Null where no event stream is kept. */
  readonly events: EventsPosition | null;
  readonly fingerprints: Fingerprints;
}

/** More is no model that fits any machine, and sizes stay exact. */
const MOST_ELEMENTS = 2 ** 44;
/** They are counted in 32 bits. */
const MOST_UPDATES = 2 ** 31 - 1;
export const MOST_DEVICES = 100_000;
const MOST_MODELS = 1000;

const perCutoff = listOf(finite, 100);
const size = count(1);

const shapeMembers = members({
  features: size,
  hidden: listOf(size, 1000),
  labels: size,
  activation: oneOf(...activations),
  loss: oneOf(...losses),
});
const shapeCheck: Check<ModelShape> = (value, at) => {
  const shape = shapeMembers(value, at);
  layoutOf(shape, at);
  return shape;
};

const adagrad = members({ name: oneOf("adagrad"), epsilon: finite });
const adam = members({ name: oneOf("adam"), beta1: finite, beta2: finite, epsilon: finite });
const ruleCheck: Check<UpdateRule> = (value, at) =>
  Object(value).name === "adam" ? adam(value, at) : adagrad(value, at);

const metricsMembers = members({
  cutoffs: listOf(size, 100),
  rows: count(),
  rowsWithoutLabels: count(),
  precision: perCutoff,
  ndcg: perCutoff,
  recall: perCutoff,
});
const metricsCheck: Check<Metrics> = (value, at) => {
  const metrics = metricsMembers(value, at);
  const { length } = metrics.cutoffs;
  for (const name of ["precision", "ndcg", "recall"] as const) {
    if (length === 0 || metrics[name].length !== length) {
      throw refuse(metrics[name], `${at}.${name}`, `as many as there are cut-offs, ${length}`);
    }
  }
  return metrics;
};

export const infoCheck: Check<DeviceInfo> = members(
  { id: count(), maxBatchRows: size },
  { threads: size, role: oneOf("host", "accelerator") },
);

const cpuKernels: Check<CpuKernelsDescription> = members({
  name: oneOf("native", "wasm", "plain"),
  isa: nullable(text(40)) as Check<CpuKernelsDescription["isa"]>,
  threads: size,
  bf16: boolean,
});
const besideProcessor = { host: cpuKernels };
const gpuKernels: Check<GpuKernelsDescription> = members(
  { name: oneOf("cuda", "opencl"), index: count(), device: text(1000) },
  besideProcessor,
);
const gpujsKernels: Check<GpujsKernelsDescription> = members(
  {
    name: oneOf("gpujs"),
    mode: oneOf("headlessgl", "webasm", "cpu"),
    isolation: oneOf("thread", "process"),
    device: text(1000),
  },
  besideProcessor,
);
const kernelsCheck: Check<KernelsDescription> = (value, at) => {
  if ("mode" in Object(value)) return gpujsKernels(value, at);
  return "device" in Object(value) ? gpuKernels(value, at) : cpuKernels(value, at);
};

const deviceCheck: Check<CheckpointDevice> = members({
  spec: text(1000),
  runs: kernelsCheck,
  info: infoCheck,
  isThere: boolean,
});

const recordMembers: Check<CheckpointRecord> = members({
  program: text(200),
  step: count(),
  algorithm: text(100),
  policy: json,
  shape: shapeCheck,
  optimizer: nullable(ruleCheck),
  seed: wholeNumber,
  trainRows: size,
  evaluationRows: count(),
  models: listOf(members({ name: modelName, updates: count(0, MOST_UPDATES) }), MOST_MODELS),
  devices: listOf(deviceCheck, MOST_DEVICES),
  executor: json,
  rows: count(),
  merges: count(),
  seconds: amount,
  metrics: nullable(metricsCheck),
  patience: members({ best: nullable(finite), without: count() }),
  events: nullable(members({ bytes: count(), lines: count() })),
  fingerprints: members({
    train: digest,
    evaluation: nullable(digest),
    configuration: recordOf(/^[a-zA-Z][a-zA-Z0-9.-]{0,99}$/, digest, 1000),
  }),
});

/** @throws TrainerError CHECKPOINT_FORMAT, saying where and what was expected. */
export function checkRecord(value: unknown): CheckpointRecord {
  const at = "state.json";
  const record = recordMembers(value, at);
  const names = record.models.map(({ name }) => name);
  if (names[0] !== "global" || new Set(names).size !== names.length) {
    throw refuse(names, `${at}.models`, "global first, and no model twice");
  }
  for (const [i, { info }] of record.devices.entries()) {
    if (info.id !== i) throw refuse(info.id, `${at}.devices[${i}].info.id`, String(i));
  }
  return record;
}

function layoutOf(shape: ModelShape, at: string): ParameterLayout {
  const { features, hidden, labels } = shape;
  const sizes = [features, ...hidden, labels];
  const elements = sizes.slice(1).reduce((all, units, i) => all + units * sizes[i]!, 0);
  if (!(elements <= MOST_ELEMENTS)) {
    throw refuse(elements, `${at}: the number of parameters`, `at most ${MOST_ELEMENTS}`);
  }
  try {
    return parameterLayout(shape);
  } catch (error) {
    const what = `${at} is impossible: ${(error as Error).message}`;
    throw new TrainerError("CHECKPOINT_FORMAT", what, { cause: error });
  }
}
