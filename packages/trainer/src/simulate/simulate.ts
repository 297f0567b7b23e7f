/**
 * A run without its devices: the same policy and the same arithmetic, in this thread, and times from
 * a profile. The same options give the same run to the last bit.
 */
import { defaultCutoffs, metricsOf, parameterLayout } from "@heterosgd/model";
import type { DeviceInfo, ModelName } from "@heterosgd/scheduler";
import type { CheckpointDevice } from "../checkpoint/record.js";
import { createWriterHost } from "../checkpoint/writer-api.js";
import { coordinate } from "../coordinator/coordinate.js";
import { openHosts, type OpenHosts } from "../coordinator/open-hosts.js";
import { createPermutations } from "../coordinator/permutations.js";
import type { DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { requireOptimizer } from "../run/algorithm-fit.js";
import { deviceLimits } from "../run/batch-limits.js";
import { requireCheckpointOptions } from "../run/checkpointer.js";
import { chooseKernels, type ChosenKernels, type KernelsOptions } from "../run/choose-kernels.js";
import { requireFit } from "../run/data-fit.js";
import { usableCutoffs } from "../run/evaluation-plan.js";
import { allFinite, diverged } from "../run/finite.js";
import { noDevices } from "../run/no-devices.js";
import { loadModels, resumeWith, resumptionOf, type Resumption } from "../run/resume.js";
import type { UndatedEvent } from "../run/run-event.js";
import { beginning, createSaving, earlierPart } from "../run/saving.js";
import { createStopRules, type StopWatch } from "../run/stop-rules.js";
import { keepSalvage } from "../run/salvage.js";
import { createTally, type Tally } from "../run/tally.js";
import type { DeviceControlOptions } from "../run/device-control.js";
import type { TrainOptions, TrainResult } from "../run/train.js";
import { createClock } from "./clock.js";
import type { Profile, ProfileDevice } from "./profile.js";
import { createSimulatedDevice, type SimulatedDevice } from "./simulated-device.js";
import { formatSimulatedDevice } from "./simulated-devices.js";
import { createSimulationExecutor } from "./simulation-executor.js";
import {
  checkSimulationState,
  isSameSimulation,
  simulationKey,
  type SimulationState,
} from "./simulation-state.js";
import { createTiming } from "./timing.js";

export interface SimulateOptions extends Omit<
  TrainOptions,
  "devices" | "workerUrl" | keyof DeviceControlOptions
> {
  readonly profile: Profile;
  /** Default: the profile's. */
  readonly devices?: readonly ProfileDevice[];
  /** Whether evaluations take virtual time. Default: no. */
  readonly countEvaluation?: boolean;
}

/** An evaluation has no backward pass and no update. */
const FORWARD_PART = 1 / 3;

/**
 * Simulates a run. `maxSeconds`, `at` of events and all seconds of the result are virtual.
 *
 * @throws TrainerError NO_DEVICES, DIVERGED, DATA_MISMATCH, BAD_OPTION, KERNELS_UNAVAILABLE,
 * CHECKPOINT_MISMATCH and what `Checkpoint.load` throws;
 * `salvageOf(error)` has the last merged model.
 */
export async function simulate(options: SimulateOptions): Promise<TrainResult> {
  const { train, evaluation, shape, rule, policy, seed, profile } = options;
  const { devices: named = profile.devices } = options;
  const cutoffs = usableCutoffs(options.cutoffs ?? defaultCutoffs, shape.labels);
  if (train.rows === 0) {
    throw new TrainerError("DATA_MISMATCH", "the training set has no rows; at least one is needed");
  }
  requireFit("training set", train, shape);
  if (evaluation !== null) requireFit("evaluation set", evaluation, shape);
  requireOptimizer(policy, rule);
  if (options.checkpoints !== undefined) requireCheckpointOptions(options.checkpoints);
  const stop = createStopRules(options, cutoffs, options.resume?.record.patience);
  const resumption =
    options.resume === undefined
      ? null
      : resumptionOf(options.resume, options, (record, counted) => {
          const devices = devicesAt(0, named);
          const key = simulationKey(profile, devices, options.countEvaluation ?? false);
          const records = recordsOf(devices, kernelsFor(devices, options), options);
          return isSameSimulation(record, key, records, counted);
        });
  const state = resumption?.exact ? checkSimulationState(resumption.record.executor) : null;
  const earlier = earlierPart(resumption);
  const now = state?.now ?? earlier.seconds;
  const devices = devicesAt(state === null ? now : 0, named);
  if (!devices.some(({ joins = 0 }) => joins <= now)) {
    const when = resumption === null ? "at the start of the run" : `after ${now} s`;
    throw new TrainerError("NO_DEVICES", `no device is there ${when}`);
  }
  const chosen = kernelsFor(devices, options);
  const records = recordsOf(devices, chosen, options);
  const infos = records.map(({ info }) => info);
  const modelNames = policy.models(infos);
  const limits = deviceLimits(policy, train, evaluation);
  const open = await openHosts({
    kernels: chosen.devices,
    shape,
    rule,
    train,
    evaluation,
    limits: chosen.devices.map(() => limits),
    cutoffs,
    models: modelNames,
    seed,
    initialScale: options.initialScale ?? 1,
  });
  const names = devices.map((device, id) => `device ${id} (${formatSimulatedDevice(device)})`);
  const tally = createTally(
    names.map((name, id) => ({ name, kernels: open.kernels[id]! })),
    earlier,
  );
  try {
    if (resumption !== null) await loadModels(resumption, open.models, modelNames);
    const run = { open, chosen, devices, records, names, tally, stop, resumption, state, now };
    return await simulateOn(run, options);
  } catch (error) {
    keepSalvage(error, open.models.memory("global").parameters.slice(), tally, earlier);
    throw error;
  } finally {
    await open.close();
  }
}

/**
 * The devices that there are from so many seconds on, in the order of their ids: those who are there then
 * come first.
 */
function devicesAt(now: number, named: readonly ProfileDevice[]): readonly ProfileDevice[] {
  const from = ({ joins = 0 }: ProfileDevice) => (joins <= now ? 0 : joins);
  return named
    .filter(({ leaves = Infinity }) => leaves > now)
    .toSorted((a, b) => from(a) - from(b));
}

/** All run on one thread of this one. */
function kernelsFor(devices: readonly unknown[], options: KernelsOptions): ChosenKernels {
  const spec: DeviceSpec = { kind: "cpu", threads: 1, speed: 1, role: "host" };
  return chooseKernels(
    devices.map(() => spec),
    options,
  );
}

/** The devices as a checkpoint records them at the start. */
function recordsOf(
  devices: readonly ProfileDevice[],
  chosen: ChosenKernels,
  options: Pick<SimulateOptions, "profile" | "policy">,
): readonly CheckpointDevice[] {
  return devices.map((device, id) => ({
    spec: formatSimulatedDevice(device),
    runs: chosen.devices[id]!,
    info: infoOf(options.profile, device, id, options.policy.maxBatchRows),
    isThere: (device.joins ?? 0) === 0,
  }));
}

function infoOf(
  { kinds }: Profile,
  { kind: name, ...device }: ProfileDevice,
  id: number,
  largestBatch: number,
): DeviceInfo {
  const kind = kinds[name];
  if (kind === undefined) {
    throw new TrainerError("DEVICE_SPEC", `the profile has no kind of devices "${name}"`);
  }
  const { threads = kind.threads ?? 1, role = kind.role ?? "host" } = device;
  const maxBatchRows = Math.min(largestBatch, kind.maxBatchRows ?? Infinity);
  return {
    id,
    maxBatchRows,
    ...(threads > 1 ? { threads } : {}),
    ...(role === "host" ? {} : { role }),
  };
}

interface Run {
  readonly open: OpenHosts;
  readonly chosen: ChosenKernels;
  readonly devices: readonly ProfileDevice[];
  /** As a checkpoint records them at the start. */
  readonly records: readonly CheckpointDevice[];
  readonly names: readonly string[];
  readonly tally: Tally;
  readonly stop: StopWatch;
  readonly resumption: Resumption | null;
  /** What it goes on from exactly, if it does. */
  readonly state: SimulationState | null;
  /** Virtual seconds at which it begins. */
  readonly now: number;
}

async function simulateOn(
  { open, chosen, devices, records, names, tally, stop, resumption, state, now }: Run,
  options: SimulateOptions,
): Promise<TrainResult> {
  const { train, evaluation, shape, policy, seed, profile, countEvaluation = false } = options;
  const layout = parameterLayout(shape);
  const infos = records.map(({ info }) => info);
  const clock = createClock(now);
  // Which memory is the global model changes from merge to merge.
  const global = () => open.models.memory("global");
  const simulated = devices.map((device, id) =>
    createSimulatedDevice(
      clock,
      infos[id]!,
      open.hosts[id]!,
      createTiming(profile, device, shape, { seed, id, random: state?.random[id] ?? null }),
    ),
  );
  const emit = (event: UndatedEvent) => options.onEvent?.({ at: clock.now(), ...event });

  const { known, checkpointer, observer } = createSaving({
    run: options,
    resumption,
    tally,
    stop,
    devices: records.map((device, id) => ({
      ...device,
      isThere: state === null ? (devices[id]!.joins ?? 0) <= now : state.devices[id] === "there",
    })),
    seconds: () => clock.now(),
    emit,
    save: () => executor.post({ type: "save" }),
    start: (setup) => createWriterHost(setup, () => 0),
  });
  const losses: TrainerError[] = [];
  const executor = createSimulationExecutor({
    clock,
    devices: simulated,
    models: open.models,
    modelLength: layout.length,
    modelBytes: layout.length * 4 * (1 + global().state.length),
    permutations: createPermutations(train.rows, seed, (order) => {
      for (const host of open.hosts) void host.addPermutation(order);
    }),
    evaluationRows: evaluation?.rows ?? 0,
    evaluationSeconds: () => (countEvaluation ? evaluationSeconds(simulated, evaluation) : 0),
    onEvaluated(_, sums) {
      const metrics = metricsOf(sums);
      known.evaluated(metrics);
      emit({ type: "evaluation", rows: tally.rows(), metrics });
      const reason = stop.look(metrics);
      if (reason !== null) executor.post({ type: "finish", reason });
    },
    key: simulationKey(profile, devices, countEvaluation),
    state,
    // The clock stands still while it is written.
    snapshots:
      checkpointer === null
        ? undefined
        : {
            begin: (models) => checkpointer.begin(models),
            taken(updates, executorState) {
              checkpointer.taken(updates, executorState);
              return checkpointer.idle();
            },
          },
    signal: options.signal,
  });
  let last: readonly ModelName[] = [];

  /** What is yet to happen, in the order in which it was to from the start. */
  function incidents(): readonly { readonly at: number; readonly happen: () => void }[] {
    const list: { readonly at: number; readonly happen: () => void }[] = [];
    for (const [id, { joins = 0, leaves }] of devices.entries()) {
      const where = state?.devices[id] ?? (joins <= now ? "there" : "to come");
      if (where === "gone") simulated[id]!.missed();
      else if (where === "there") simulated[id]!.arrive();
      else list.push({ at: joins, happen: () => executor.join(id) });
      if (leaves === undefined || where === "gone") continue;
      list.push({
        at: leaves,
        happen() {
          const reason = `${names[id]} has left the simulation at ${leaves} s`;
          losses.push(new TrainerError("DEVICE_EXITED", reason));
          executor.lose(id, reason);
        },
      });
    }
    if (options.maxSeconds !== undefined) {
      const finish = { type: "finish", reason: "time" } as const;
      list.push({ at: options.maxSeconds, happen: () => executor.post(finish) });
    }
    return list.toSorted((a, b) => a.at - b.at);
  }

  /** Asks for a checkpoint at the multiple `turn` of so many seconds, and at all later ones. */
  function saveEvery(seconds: number, turn: number): void {
    clock.schedule(turn * seconds, () => {
      executor.post({ type: "save" });
      saveEvery(seconds, turn + 1);
    });
  }

  emit({
    ...beginning(resumption),
    algorithm: policy.name,
    seed,
    shape,
    trainRows: train.rows,
    evaluationRows: evaluation?.rows ?? 0,
    parameters: layout.parameterCount,
    devices: names.map((name, device) => ({
      device,
      name,
      kernels: open.kernels[device]!,
      runs: chosen.devices[device]!,
      info: infos[device]!,
      ...((devices[device]!.joins ?? 0) > now ? { joins: devices[device]!.joins } : {}),
    })),
    simulated: {
      profile: profile.name,
      measured: profile.measured,
      link: profile.link,
      kinds: profile.kinds,
      ...(profile.network === undefined ? {} : { network: profile.network }),
      devices,
      countsEvaluation: countEvaluation,
    },
    nativeUnavailable: chosen.nativeUnavailable,
  });

  for (const { at, happen } of incidents()) clock.schedule(Math.max(at, now), happen);
  const every = options.checkpoints?.everySeconds;
  if (every !== undefined) {
    const turn = 1 + Math.floor(now / every);
    // What is divided may come out a little less.
    saveEvery(every, turn * every > now ? turn : turn + 1);
  }
  const present = infos.filter((_, id) => (devices[id]!.joins ?? 0) <= now);
  const setup = { devices: present, rows: train.rows, parameters: layout.parameterCount };
  const begin = resumption === null ? policy.start(setup) : resumeWith(policy, resumption, present);
  const reason = await coordinate(policy, begin, executor, {
    ...observer,
    onCommand(command, policyState) {
      observer.onCommand?.(command, policyState);
      if (command.type === "stop") last = command.models;
    },
  });
  if (checkpointer !== null && allFinite(global().parameters)) {
    const executorState = await executor.settle(last);
    await checkpointer.finish((name) => open.models.memory(name), executorState);
  }
  if (reason === "devices") throw noDevices("train", losses);
  if (!allFinite(global().parameters)) throw diverged();
  const summary = tally.summary(simulated.map((device) => device.usage()));
  emit({ type: "end", reason, devices: summary });
  return {
    reason,
    parameters: global().parameters.slice(),
    metrics: known.metrics(),
    devices: summary,
    rows: tally.rows(),
    seconds: clock.now(),
  };
}

/** All devices that are there evaluate together, each as much as its speed allows. */
function evaluationSeconds(
  devices: readonly SimulatedDevice[],
  evaluation: SimulateOptions["evaluation"],
): number {
  if (evaluation === null || evaluation.rows === 0) return 0;
  const { rows } = evaluation;
  const work = { rows, nonZeros: evaluation.features.indices.length, updates: 0 };
  const rate = devices
    .filter((device) => device.isThere())
    .reduce((sum, { timing }) => sum + 1 / (FORWARD_PART * timing.seconds(work)), 0);
  return rate === 0 ? 0 : 1 / rate;
}
