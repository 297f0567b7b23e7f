import {
  defaultCutoffs,
  initialise,
  metricsOf,
  parameterLayout,
  rowNorm,
  type Metrics,
  type ModelShape,
  type UpdateRule,
} from "@heterosgd/model";
import type { DeviceInfo, Policy, StopReason } from "@heterosgd/scheduler";
import type { Dataset } from "@heterosgd/sparse";
import { coordinate } from "../coordinator/coordinate.js";
import { createDeviceExecutor, type DeviceExecutor } from "../coordinator/device-executor.js";
import { LONGEST_DELAY_MS } from "../device/supervisor.js";
import { openDevices, type OpenDevices } from "../coordinator/open-devices.js";
import type { ReplacementLimits } from "../coordinator/replacements.js";
import type { DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { requireFit } from "./data-fit.js";
import { controlDevices, replacementLimits, type DeviceControlOptions } from "./device-control.js";
import { deviceInfo } from "./device-info.js";
import { requireOptimizer } from "./algorithm-fit.js";
import { batchLimits, bufferRows } from "./batch-limits.js";
import { evaluationChunk, usableCutoffs } from "./evaluation-plan.js";
import { chooseKernels, type ChosenKernels, type KernelsOptions } from "./choose-kernels.js";
import { allFinite, diverged } from "./finite.js";
import { noDevices } from "./no-devices.js";
import type { RunEvent, UndatedEvent } from "./run-event.js";
import { keepSalvage } from "./salvage.js";
import { createTally, recordedBy, type DeviceSummary, type Tally } from "./tally.js";
import { createStopRules, type StopRules } from "./stop-rules.js";

export interface TrainOptions extends KernelsOptions, StopRules, DeviceControlOptions {
  readonly train: Dataset<SharedArrayBuffer>;
  /** Evaluated whenever the policy says so; null for none. */
  readonly evaluation: Dataset<SharedArrayBuffer> | null;
  readonly shape: ModelShape;
  /** How devices update models: null for plain SGD, the only one for algorithms that add gradients. */
  readonly rule: UpdateRule | null;
  readonly devices: readonly DeviceSpec[];
  /** The algorithm. */
  readonly policy: Policy;
  /** Decides the initial parameters and every epoch's order. */
  readonly seed: number;
  /** Multiplies the initial weights. Default 1. */
  readonly initialScale?: number;
  /**
   * Cut-offs k of the metrics, ascending; those above the number of labels are left out. Default 1,
   * 3, 5.
   */
  readonly cutoffs?: readonly number[];
  /** Winds up after so many seconds of training. */
  readonly maxSeconds?: number;
  /** Winds up when aborted: what is trained is merged, evaluated and returned. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: RunEvent) => void;
  /** Where the entry of the devices' workers lies, if not beside this module. */
  readonly workerUrl?: URL;
}

export interface TrainResult {
  readonly reason: StopReason;
  /** The global model, laid out by `parameterLayout(shape)`. */
  readonly parameters: Float32Array;
  /** Of the last evaluation, which is of these parameters; null where nothing is evaluated. */
  readonly metrics: Metrics | null;
  readonly devices: readonly DeviceSummary[];
  /** Rows trained on, over all epochs. */
  readonly rows: number;
  readonly seconds: number;
}

/**
 * Trains one network over all devices at once, by the policy's algorithm.
 *
 * A device that fails, ends, no longer answers or answers with what can't be is lost: its rows go back,
 * the others go on, and it is opened anew as a new device, `deviceRetries` times at most.
 *
 * @throws TrainerError NO_DEVICES (fewer than `minDevices` are left; the first loss is the cause),
 * DIVERGED, DATA_MISMATCH, BAD_OPTION (the target's cut-off is none of the metrics', the
 * algorithm takes plain SGD only),
 * KERNELS_UNAVAILABLE or DEVICE_SPEC (the kernels that are asked for can't be had), or what a device
 * reported when it could not be opened. `salvageOf(error)` has the last merged model.
 */
export async function train(options: TrainOptions): Promise<TrainResult> {
  const { train: rows, evaluation, shape, rule, devices: specs } = options;
  const cutoffs = usableCutoffs(options.cutoffs ?? defaultCutoffs, shape.labels);
  if (specs.length === 0) throw new TrainerError("NO_DEVICES", "no device was named");
  if (rows.rows === 0) {
    throw new TrainerError("DATA_MISMATCH", "the training set has no rows; at least one is needed");
  }
  requireFit("training set", rows, shape);
  if (evaluation !== null) requireFit("evaluation set", evaluation, shape);
  requireOptimizer(options.policy, rule);
  const limits = replacementLimits(options, specs.length);
  const stopAfter = createStopRules(options, cutoffs);
  const began = performance.now();
  const { maxBatchRows } = options.policy;
  const infos = specs.map((spec, id) => deviceInfo(id, maxBatchRows, spec));
  const chosen = chooseKernels(specs, options);
  const open = await openDevices({
    devices: specs,
    kernels: chosen.devices,
    shape,
    rule,
    train: rows.buffer,
    evaluation: evaluation?.buffer ?? null,
    limits: batchLimits(bufferRows(options.policy, rows, evaluation), [rows, evaluation]),
    cutoffs,
    models: options.policy.models(infos),
    workerUrl: options.workerUrl,
  });
  const tally = createTally(
    open.devices.map(({ name }, id) => ({ name, kernels: open.kernels[id]! })),
  );
  try {
    return await trainOn({ open, chosen, infos, tally, limits, stopAfter, began }, options);
  } catch (error) {
    keepSalvage(error, open.models.memory("global").parameters, tally);
    throw error;
  } finally {
    await open.close();
  }
}

/** What a run has once its devices are open. */
interface Run {
  readonly open: OpenDevices;
  readonly chosen: ChosenKernels;
  readonly infos: readonly DeviceInfo[];
  readonly tally: Tally;
  readonly limits: ReplacementLimits;
  readonly stopAfter: ReturnType<typeof createStopRules>;
  readonly began: number;
}

async function trainOn(
  { open, chosen, infos, tally, limits, stopAfter, began }: Run,
  options: TrainOptions,
): Promise<TrainResult> {
  const { train: rows, evaluation, shape, policy, seed } = options;
  const layout = parameterLayout(shape);
  const evaluationRows = evaluation?.rows ?? 0;
  const seconds = () => (performance.now() - began) / 1000;
  const emit = (event: UndatedEvent) => options.onEvent?.({ at: seconds(), ...event });
  const global = () => open.models.memory("global").parameters;
  initialise(layout, global(), seed, {
    rowNorm: rowNorm(rows.features),
    scale: options.initialScale ?? 1,
  });

  let metrics: Metrics | null = null;
  const executor = createDeviceExecutor({
    devices: open.devices,
    models: open.models,
    modelLength: layout.length,
    trainRows: rows.rows,
    seed,
    evaluationRows,
    evaluationChunk: evaluationChunk(evaluationRows, infos.length, policy.maxBatchRows),
    pace: options.pace,
    onLost: (loss) => control.lost(loss),
    onEvaluated(_, sums) {
      if (evaluation === null) return;
      metrics = metricsOf(sums);
      emit({ type: "evaluation", rows: tally.rows(), metrics });
      const reason = stopAfter(metrics);
      if (reason !== null) executor.post({ type: "finish", reason });
    },
  });
  let left = 0;
  const control = controlDevices(
    {
      open,
      executor,
      layout,
      limits,
      onRetryFailed(record) {
        tally.event(record);
        emit(record);
      },
      onTooFew: (devices) => (left = devices),
    },
    options,
  );
  emit({
    type: "start",
    algorithm: policy.name,
    seed,
    shape,
    trainRows: rows.rows,
    evaluationRows,
    parameters: layout.parameterCount,
    devices: tally.summary([]).map(({ device, name, kernels }) => ({
      device,
      name,
      kernels,
      runs: chosen.devices[device]!,
      info: infos[device]!,
    })),
    nativeUnavailable: chosen.nativeUnavailable,
  });

  const stopWatching = finishOn(options, executor);
  try {
    options.onReady?.({ add: (device) => control.add(device) });
    const setup = { devices: infos, rows: rows.rows, parameters: layout.parameterCount };
    const reason = await coordinate(policy, setup, executor, recordedBy(tally, emit));
    if (reason === "devices") {
      const needed = limits.minDevices;
      throw noDevices("train", executor.losses(), { devices: left, needed });
    }
    // The last updates have shown in no loss.
    if (!allFinite(global())) throw diverged();
    const devices = tally.summary(executor.usage());
    emit({ type: "end", reason, devices });
    return {
      reason,
      parameters: global(),
      metrics,
      devices,
      rows: tally.rows(),
      seconds: seconds(),
    };
  } finally {
    stopWatching();
    control.stop();
  }
}

/**
 * Posts a finish when the time is up or the signal comes; returns how to stop watching for them.
 */
function finishOn({ maxSeconds, signal }: TrainOptions, executor: DeviceExecutor): () => void {
  const interrupt = () => executor.post({ type: "finish", reason: "signal" });
  const timer =
    maxSeconds === undefined
      ? undefined
      : setTimeout(
          () => executor.post({ type: "finish", reason: "time" }),
          Math.min(maxSeconds * 1000, LONGEST_DELAY_MS),
        );
  if (signal?.aborted) interrupt();
  signal?.addEventListener("abort", interrupt);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", interrupt);
  };
}
