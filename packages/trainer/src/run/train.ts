import { isDeepStrictEqual } from "node:util";
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
import type { ModelName, Policy, StopReason } from "@heterosgd/scheduler";
import type { Dataset } from "@heterosgd/sparse";
import type { Checkpoint } from "../checkpoint/open-checkpoint.js";
import type { CheckpointDevice } from "../checkpoint/record.js";
import { startWriter } from "../checkpoint/writer-thread.js";
import { coordinate } from "../coordinator/coordinate.js";
import { createDeviceExecutor, type DeviceExecutor } from "../coordinator/device-executor.js";
import { LONGEST_DELAY_MS } from "../device/supervisor.js";
import { openDevices, type OpenDevices } from "../coordinator/open-devices.js";
import type { ReplacementLimits } from "../coordinator/replacements.js";
import { formatDevice, type DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { requireFit } from "./data-fit.js";
import { controlDevices, replacementLimits, type DeviceControlOptions } from "./device-control.js";
import { requireOptimizer } from "./algorithm-fit.js";
import { evaluationChunk, usableCutoffs } from "./evaluation-plan.js";
import {
  requireCheckpointOptions,
  type Checkpointer,
  type CheckpointOptions,
} from "./checkpointer.js";
import { withGpujs } from "./choose-gpujs.js";
import { chooseKernels, type ChosenKernels, type KernelsOptions } from "./choose-kernels.js";
import { allFinite, diverged } from "./finite.js";
import { fitDevices } from "./memory-gpu.js";
import { noDevices } from "./no-devices.js";
import { loadModels, resumeWith, resumptionOf, type Resumption } from "./resume.js";
import type { RunEvent, UndatedEvent } from "./run-event.js";
import { beginning, createSaving, earlierPart } from "./saving.js";
import { keepSalvage } from "./salvage.js";
import { createTally, type DeviceSummary, type Tally } from "./tally.js";
import { createStopRules, type StopRules, type StopWatch } from "./stop-rules.js";

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
  /** Where checkpoints go, and when; left out: there are none. */
  readonly checkpoints?: CheckpointOptions;
  /**
   * What the run goes on from, in place of a start. On the very same devices it goes on as it would have
   * done; on others with the global model and what is left to do.
   */
  readonly resume?: Checkpoint;
  /** Where the entries of the workers lie, if not beside this module. */
  readonly workerUrl?: URL;
  readonly checkpointWorkerUrl?: URL;
}

export interface TrainResult {
  readonly reason: StopReason;
  /** The global model, laid out by `parameterLayout(shape)`. */
  readonly parameters: Float32Array;
  /** Of the last evaluation, which is of these parameters; null where nothing is evaluated. */
  readonly metrics: Metrics | null;
  readonly devices: readonly DeviceSummary[];
  /** Rows trained on, over all epochs; as are the seconds, over all parts of a resumed run. */
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
 * algorithm takes plain SGD only), CHECKPOINT_MISMATCH and what `Checkpoint.load` throws,
 * KERNELS_UNAVAILABLE or DEVICE_SPEC (the kernels that are asked for can't be had), DEVICE_MEMORY (a
 * device's own memory has no room for it), or what a device
 * reported when it could not be opened. `salvageOf(error)` has the last merged model.
 */
export async function train(given: TrainOptions): Promise<TrainResult> {
  const options = await withGpujs(given, given.devices);
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
  if (options.checkpoints !== undefined) requireCheckpointOptions(options.checkpoints);
  const stop = createStopRules(options, cutoffs, options.resume?.record.patience);
  const began = performance.now();
  const chosen = chooseKernels(specs, options);
  const fitted = fitDevices(specs, chosen.devices, options);
  const infos = fitted.map(({ info }) => info);
  const devices = specs.map((spec, id): CheckpointDevice => ({
    spec: formatDevice(spec),
    runs: chosen.devices[id]!,
    info: infos[id]!,
    isThere: true,
  }));
  const resumption =
    options.resume === undefined ? null : resumptionOn(options.resume, options, devices);
  const names = options.policy.models(infos);
  const open = await openDevices({
    devices: specs,
    kernels: chosen.devices,
    shape,
    rule,
    train: rows.buffer,
    evaluation: evaluation?.buffer ?? null,
    limits: fitted.map((device) => device.limits),
    cutoffs,
    models: names,
    workerUrl: options.workerUrl,
  });
  const earlier = earlierPart(resumption);
  const tally = createTally(
    open.devices.map(({ name }, id) => ({ name, kernels: open.kernels[id]! })),
    earlier,
  );
  try {
    const run = { open, names, chosen, devices, resumption, tally, limits, stop, began };
    return await trainOn(run, options);
  } catch (error) {
    keepSalvage(error, open.models.memory("global").parameters, tally, earlier);
    throw error;
  } finally {
    await open.close();
  }
}

/** What a run has once its devices are open. */
interface Run {
  readonly open: OpenDevices;
  /** All models that there are. */
  readonly names: readonly ModelName[];
  readonly chosen: ChosenKernels;
  readonly devices: readonly CheckpointDevice[];
  readonly resumption: Resumption | null;
  readonly tally: Tally;
  readonly limits: ReplacementLimits;
  readonly stop: StopWatch;
  readonly began: number;
}

/** On real devices all goes on as it would have done if none has been lost or added since the start. */
function resumptionOn(
  checkpoint: Checkpoint,
  options: TrainOptions,
  devices: readonly CheckpointDevice[],
): Resumption {
  return resumptionOf(
    checkpoint,
    options,
    (record, counted) =>
      record.executor === null &&
      isDeepStrictEqual(
        counted.map(({ id }) => id).toSorted((a, b) => a - b),
        devices.map(({ info }) => info.id),
      ) &&
      isDeepStrictEqual(record.devices, devices),
  );
}

async function trainOn(
  { open, names, chosen, devices, resumption, tally, limits, stop, began }: Run,
  options: TrainOptions,
): Promise<TrainResult> {
  const { train: rows, evaluation, shape, policy, seed } = options;
  const layout = parameterLayout(shape);
  const evaluationRows = evaluation?.rows ?? 0;
  const earlier = earlierPart(resumption);
  const seconds = () => earlier.seconds + (performance.now() - began) / 1000;
  const emit = (event: UndatedEvent) => options.onEvent?.({ at: seconds(), ...event });
  const global = () => open.models.memory("global").parameters;
  const infos = devices.map(({ info }) => info);
  if (resumption === null) {
    initialise(layout, global(), seed, {
      rowNorm: rowNorm(rows.features),
      scale: options.initialScale ?? 1,
    });
  } else {
    await open.refresh(await loadModels(resumption, open.models, names));
  }

  const { known, checkpointer, observer } = createSaving({
    run: options,
    resumption,
    tally,
    stop,
    devices,
    seconds,
    emit,
    save: () => executor.post({ type: "save" }),
    start: (setup) => startWriter(setup, options.checkpointWorkerUrl),
  });
  const executor = createDeviceExecutor({
    devices: open.devices,
    models: open.models,
    modelLength: layout.length,
    trainRows: rows.rows,
    seed,
    evaluationRows,
    evaluationChunk: evaluationChunk(evaluationRows, infos.length, policy.maxBatchRows),
    pace: options.pace,
    snapshots: checkpointer ?? undefined,
    onLost: (loss) => control.lost(loss),
    onEvaluated(_, sums) {
      if (evaluation === null) return;
      const metrics = metricsOf(sums);
      known.evaluated(metrics);
      emit({ type: "evaluation", rows: tally.rows(), metrics });
      const reason = stop.look(metrics);
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
      onTooFew: (count) => (left = count),
    },
    options,
  );
  emit({
    ...beginning(resumption),
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

  const stopWatching = finishOn(options, earlier.seconds, executor);
  const stopSaving = saveEvery(options.checkpoints?.everySeconds, checkpointer);
  try {
    options.onReady?.({ add: (device) => control.add(device) });
    const setup = { devices: infos, rows: rows.rows, parameters: layout.parameterCount };
    const begin = resumption === null ? policy.start(setup) : resumeWith(policy, resumption, infos);
    const reason = await coordinate(policy, begin, executor, observer);
    if (allFinite(global())) await checkpointer?.finish((name) => open.models.memory(name), null);
    if (reason === "devices") {
      const needed = limits.minDevices;
      throw noDevices("train", executor.losses(), { devices: left, needed });
    }
    // The last updates have shown in no loss.
    if (!allFinite(global())) throw diverged();
    const summary = tally.summary(executor.usage());
    emit({ type: "end", reason, devices: summary });
    return {
      reason,
      parameters: global(),
      metrics: known.metrics(),
      devices: summary,
      rows: tally.rows(),
      seconds: seconds(),
    };
  } finally {
    stopWatching();
    stopSaving();
    control.stop();
    await checkpointer?.close();
  }
}

/** Asks for a checkpoint every so often; returns how to stop that. */
function saveEvery(
  everySeconds: number | undefined,
  checkpointer: Checkpointer | null,
): () => void {
  if (everySeconds === undefined || checkpointer === null) return () => undefined;
  const delay = Math.min(everySeconds * 1000, LONGEST_DELAY_MS);
  const timer = setInterval(() => checkpointer.request(), delay);
  return () => clearInterval(timer);
}

/**
 * Posts a finish when the time is up, `earlier` seconds of which are over, or the signal comes; returns
 * how to stop watching for them.
 */
function finishOn(
  { maxSeconds, signal }: TrainOptions,
  earlier: number,
  executor: DeviceExecutor,
): () => void {
  const interrupt = () => executor.post({ type: "finish", reason: "signal" });
  const timer =
    maxSeconds === undefined
      ? undefined
      : setTimeout(
          () => executor.post({ type: "finish", reason: "time" }),
          Math.min(Math.max(0, maxSeconds - earlier) * 1000, LONGEST_DELAY_MS),
        );
  if (signal?.aborted) interrupt();
  signal?.addEventListener("abort", interrupt);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", interrupt);
  };
}
