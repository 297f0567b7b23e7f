/**
 * A run without its devices: the same policy and the same arithmetic, in this thread, and times from
 * a profile. The same options give the same run to the last bit.
 */
import { defaultCutoffs, metricsOf, parameterLayout, type Metrics } from "@heterosgd/model";
import type { DeviceInfo } from "@heterosgd/scheduler";
import { coordinate } from "../coordinator/coordinate.js";
import { openHosts, type OpenHosts } from "../coordinator/open-hosts.js";
import { createPermutations } from "../coordinator/permutations.js";
import type { DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { requireOptimizer } from "../run/algorithm-fit.js";
import { batchLimits, bufferRows } from "../run/batch-limits.js";
import { chooseKernels, type ChosenKernels } from "../run/choose-kernels.js";
import { requireFit } from "../run/data-fit.js";
import { usableCutoffs } from "../run/evaluation-plan.js";
import { allFinite, diverged } from "../run/finite.js";
import { noDevices } from "../run/no-devices.js";
import type { UndatedEvent } from "../run/run-event.js";
import { createStopRules, type StopWatch } from "../run/stop-rules.js";
import { keepSalvage } from "../run/salvage.js";
import { createTally, recordedBy, type Tally } from "../run/tally.js";
import type { DeviceControlOptions } from "../run/device-control.js";
import type { TrainOptions, TrainResult } from "../run/train.js";
import { createClock } from "./clock.js";
import type { Profile, ProfileDevice } from "./profile.js";
import { createSimulatedDevice, type SimulatedDevice } from "./simulated-device.js";
import { formatSimulatedDevice } from "./simulated-devices.js";
import { createSimulationExecutor } from "./simulation-executor.js";
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
 * @throws TrainerError NO_DEVICES, DIVERGED, DATA_MISMATCH, BAD_OPTION, KERNELS_UNAVAILABLE;
 * `salvageOf(error)` has the last merged model.
 */
export async function simulate(options: SimulateOptions): Promise<TrainResult> {
  const { train, evaluation, shape, rule, policy, seed, profile } = options;
  const { devices: named = profile.devices } = options;
  const cutoffs = usableCutoffs(options.cutoffs ?? defaultCutoffs, shape.labels);
  if (!named.some(({ joins = 0 }) => joins === 0)) {
    throw new TrainerError("NO_DEVICES", "no device is there at the start of the run");
  }
  if (train.rows === 0) {
    throw new TrainerError("DATA_MISMATCH", "the training set has no rows; at least one is needed");
  }
  requireFit("training set", train, shape);
  if (evaluation !== null) requireFit("evaluation set", evaluation, shape);
  requireOptimizer(policy, rule);
  const stop = createStopRules(options, cutoffs);
  const specs = named.map((): DeviceSpec => ({ kind: "cpu", threads: 1, speed: 1, role: "host" }));
  const chosen = chooseKernels(specs, options);
  // Those who are there from the start come first: a device's id is its place in the list.
  const devices = named.toSorted((a, b) => (a.joins ?? 0) - (b.joins ?? 0));
  const infos = devices.map((device, id) => infoOf(profile, device, id, policy.maxBatchRows));
  const open = await openHosts({
    kernels: chosen.devices,
    shape,
    rule,
    train,
    evaluation,
    limits: batchLimits(bufferRows(policy, train, evaluation), [train, evaluation]),
    cutoffs,
    models: policy.models(infos),
    seed,
    initialScale: options.initialScale ?? 1,
  });
  const names = devices.map((device, id) => `device ${id} (${formatSimulatedDevice(device)})`);
  const tally = createTally(names.map((name, id) => ({ name, kernels: open.kernels[id]! })));
  try {
    return await simulateOn({ open, chosen, devices, names, infos, tally, stop }, options);
  } catch (error) {
    keepSalvage(error, open.models.memory("global").parameters.slice(), tally);
    throw error;
  } finally {
    await open.close();
  }
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
  readonly names: readonly string[];
  readonly infos: readonly DeviceInfo[];
  readonly tally: Tally;
  readonly stop: StopWatch;
}

async function simulateOn(
  { open, chosen, devices, names, infos, tally, stop }: Run,
  options: SimulateOptions,
): Promise<TrainResult> {
  const { train, evaluation, shape, policy, seed, profile, countEvaluation = false } = options;
  const layout = parameterLayout(shape);
  const clock = createClock();
  // Which memory is the global model changes from merge to merge.
  const global = () => open.models.memory("global");
  const simulated = devices.map((device, id) =>
    createSimulatedDevice(
      clock,
      infos[id]!,
      open.hosts[id]!,
      createTiming(profile, device, shape, { seed, id }),
    ),
  );
  const emit = (event: UndatedEvent) => options.onEvent?.({ at: clock.now(), ...event });

  let metrics: Metrics | null = null;
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
      metrics = metricsOf(sums);
      emit({ type: "evaluation", rows: tally.rows(), metrics });
      const reason = stop.look(metrics);
      if (reason !== null) executor.post({ type: "finish", reason });
    },
    signal: options.signal,
  });
  emit({
    type: "start",
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
      ...(devices[device]!.joins ? { joins: devices[device]!.joins } : {}),
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

  for (const [id, { joins = 0, leaves }] of devices.entries()) {
    if (joins === 0) simulated[id]!.arrive();
    else clock.schedule(joins, () => executor.join(id));
    if (leaves === undefined) continue;
    clock.schedule(leaves, () => {
      const reason = `${names[id]} has left the simulation at ${leaves} s`;
      losses.push(new TrainerError("DEVICE_EXITED", reason));
      executor.lose(id, reason);
    });
  }
  if (options.maxSeconds !== undefined) {
    clock.schedule(options.maxSeconds, () => executor.post({ type: "finish", reason: "time" }));
  }
  const present = infos.filter((_, id) => (devices[id]!.joins ?? 0) === 0);
  const setup = { devices: present, rows: train.rows, parameters: layout.parameterCount };
  const reason = await coordinate(policy, policy.start(setup), executor, recordedBy(tally, emit));
  if (reason === "devices") throw noDevices("train", losses);
  if (!allFinite(global().parameters)) throw diverged();
  const summary = tally.summary(simulated.map((device) => device.usage()));
  emit({ type: "end", reason, devices: summary });
  return {
    reason,
    parameters: global().parameters.slice(),
    metrics,
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
