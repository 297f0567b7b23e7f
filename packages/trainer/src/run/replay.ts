/**
 * Repeats a run in this thread from its recorded events: the same policy, fed the same events in
 * the same order, over the same device code. Each device carries its commands out in the order in
 * which they were issued, and the recorded answers say how far it had come. The parameters come out
 * equal to the last bit, whatever the timing of the real run was. A run that was resumed is repeated part
 * by part, each on its devices.
 */
import { parameterLayout } from "@heterosgd/model";
import type { DeviceInfo, ModelName, PolicyEvent, Transition } from "@heterosgd/scheduler";
import { copyArrays } from "../checkpoint/model-names.js";
import { coordinate } from "../coordinator/coordinate.js";
import { openHosts } from "../coordinator/open-hosts.js";
import { createPermutations } from "../coordinator/permutations.js";
import { createReplayExecutor } from "../coordinator/replay-executor.js";
import { ownerOf } from "../coordinator/model-table.js";
import type { ModelMemory } from "../device/api.js";
import { isGpu, plainKernels, type KernelsDescription } from "../device/device-kernels.js";
import type { DeviceSpec } from "../device/device-spec.js";
import { TrainerError } from "../errors.js";
import { deviceLimits } from "./batch-limits.js";
import { deviceInfo } from "./device-info.js";
import type { RecordedEvent, ResumeRecord, StartRecord } from "./run-event.js";
import type { TrainOptions } from "./train.js";

export interface ReplayOptions extends Pick<
  TrainOptions,
  "train" | "shape" | "rule" | "policy" | "seed" | "initialScale"
> {
  /**
   * The recorded start's `devices`: the same kernels then run again, on as many threads. A number stands
   * for as many on the plain kernels. Those that joined later and are not among them are known from their events.
   */
  readonly devices: number | StartRecord["devices"];
  /**
   * The policy events of the recorded run and its `resume` records, in order (other records of its event
   * stream left out).
   */
  readonly events: readonly (RecordedEvent | ResumeRecord)[];
}

type Device = Pick<StartRecord["devices"][number], "info" | "runs" | "joins">;

/** What follows from what ran, where a recording does not say it. */
function partOf(runs: KernelsDescription): Pick<DeviceSpec, "threads" | "role"> {
  if (isGpu(runs)) return { threads: 1, role: "accelerator" };
  return { threads: runs.threads, role: "host" };
}

/** What a part of a run begins on: its devices at first, and what it was resumed from. */
interface Part {
  readonly devices: readonly Device[];
  readonly resume: ResumeRecord | null;
  readonly events: readonly RecordedEvent[];
}

/** What a run is resumed from. */
interface Snapshot {
  readonly state: unknown;
  readonly models: ReadonlyMap<ModelName, ModelMemory>;
}

/**
 * Replays a run over the same data, configuration and seed. Evaluations are not repeated.
 *
 * @returns the global model at its end, laid out by `parameterLayout(shape)`.
 * @throws TrainerError REPLAY_MISMATCH where the recorded answers cannot come from such a run.
 */
export async function replay(options: ReplayOptions): Promise<Float32Array> {
  const parts = partsOf(options);
  let snapshot: Snapshot | null = null;
  for (const [i, part] of parts.entries()) {
    const isLast = i === parts.length - 1;
    snapshot = await replayPart(part, snapshot, isLast, options);
  }
  return snapshot!.models.get("global")!.parameters;
}

function partsOf({ devices, events }: ReplayOptions): readonly Part[] {
  const parts: Part[] = [];
  let resume: ResumeRecord | null = null;
  let from = 0;
  const end = (to: number) => {
    const own = events.slice(from, to) as readonly RecordedEvent[];
    const first = resume === null ? recordedDevices(devices) : resume.devices;
    parts.push({ devices: withJoined(first, own), resume, events: own });
  };
  for (const [i, event] of events.entries()) {
    if (event.type !== "resume") continue;
    end(i);
    resume = event;
    from = i + 1;
  }
  end(events.length);
  return parts;
}

function recordedDevices(devices: ReplayOptions["devices"]): readonly Device[] {
  return typeof devices === "number" ? Array.from({ length: devices }, () => ({})) : devices;
}

/** Adds the devices of which only the events of their joining tell. */
function withJoined(
  devices: readonly Device[],
  events: readonly RecordedEvent[],
): readonly Device[] {
  const all = [...devices];
  for (const event of events) {
    if (event.type === "joined" && event.device.id === all.length) {
      const { device: info, runs } = event;
      all.push({ info, ...(runs === undefined ? {} : { runs }) });
    }
  }
  return all;
}

/** @returns the models at its end: those of its last checkpoint, or all of the last part. */
async function replayPart(
  { devices: recorded, resume, events }: Part,
  snapshot: Snapshot | null,
  isLast: boolean,
  { train, shape, rule, policy, seed, initialScale = 1 }: ReplayOptions,
): Promise<Snapshot> {
  const layout = parameterLayout(shape);
  const infos = recorded.map(
    ({ info, runs = plainKernels }, id): DeviceInfo =>
      info ?? deviceInfo(id, policy.maxBatchRows, { ...partOf(runs) }),
  );
  const names = policy.models(infos);
  const open = await openHosts({
    kernels: recorded.map(({ runs = plainKernels }) => runs),
    shape,
    rule,
    train,
    evaluation: null,
    limits: infos.map((info) => deviceLimits(info, train, null)),
    cutoffs: [1],
    models: names,
    seed,
    initialScale,
  });
  const { hosts, models } = open;
  const permutations = createPermutations(train.rows, seed, (order) => {
    for (const host of hosts) void host.addPermutation(order);
  });
  const joining = new Set(events.flatMap((e) => (e.type === "joined" ? [e.device.id] : [])));
  // The run may have ended before a device was to join.
  const isLate = (id: number) => joining.has(id) || recorded[id]?.joins !== undefined;
  const early = infos.filter(({ id }) => !isLate(id));

  async function begin(): Promise<{
    readonly transition: Transition<unknown>;
    readonly present: number[];
  }> {
    const ids = (list: readonly DeviceInfo[]) => list.map(({ id }) => id);
    if (snapshot === null || resume === null) {
      const setup = { devices: early, rows: train.rows, parameters: layout.parameterCount };
      return { transition: policy.start(setup), present: ids(early) };
    }
    const { state } = snapshot;
    for (const [name, saved] of snapshot.models) {
      if (!names.includes(name) || (ownerOf(name) !== null && !resume.exact)) continue;
      const memory = models.memory(name);
      copyArrays(saved, memory);
      memory.updates.set(saved.updates);
      const owner = ownerOf(name);
      if (owner !== null) await hosts[owner]!.refresh(models.slot(name));
    }
    return resume.exact
      ? { transition: policy.resume(state, null), present: ids(policy.devices(state)) }
      : { transition: policy.resume(state, early), present: ids(early) };
  }

  try {
    const { transition, present } = await begin();
    const modelLength = layout.length;
    const executor = createReplayExecutor({
      hosts,
      present,
      models,
      modelLength,
      permutations,
      events,
    });
    let saved: Omit<Snapshot, "models"> & { readonly names: readonly ModelName[] } = {
      state: null,
      names: [],
    };
    let given = 0;
    const next = async (): Promise<PolicyEvent> => {
      if (given++ === events.length && !isLast) throw partEnded;
      // What was asked for since is gone with the checkpoint that it was in.
      saved = events[given - 1]?.type === "checkpointed" ? { state: null, names: [] } : saved;
      return executor.next();
    };
    const ended = coordinate(
      policy,
      transition,
      { execute: (command) => executor.execute(command), next },
      {
        onCommand(command, state) {
          if (command.type === "checkpoint" || command.type === "stop") {
            saved = { state, names: command.models };
          }
        },
      },
    );
    await ended.catch((error: unknown) => {
      if (error !== partEnded) throw error;
    });
    if (saved.names.length === 0) {
      throw new TrainerError(
        "REPLAY_MISMATCH",
        "the recording goes on from a checkpoint where the replay takes none; replay with the configuration of the recorded run",
      );
    }
    await executor.settle();
    const copies = saved.names.map((name): [ModelName, ModelMemory] => {
      const { parameters, state, updates } = models.memory(name);
      const arrays = state.map((array) => array.slice());
      const copy = { parameters: parameters.slice(), state: arrays, updates: updates.slice() };
      return [name, copy];
    });
    return { state: saved.state, models: new Map(copies) };
  } finally {
    await open.close();
  }
}

/** Thrown where a part's recording ends. */
const partEnded = new Error("the part has ended");
