/**
 * Carries a policy's commands out on real devices, one worker each. What a device is told goes into
 * its queue at once; answers come back as events in the order in which they arrive.
 */
import type { MetricSums } from "@heterosgd/model";
import { sliceFor, type Slice } from "@heterosgd/merge";
import {
  countRows,
  largestLearningRate,
  type AccumulateCommand,
  type BlendCommand,
  type CheckpointCommand,
  type DeviceId,
  type EvaluateCommand,
  type JoinedEvent,
  type PolicyEvent,
  type StepCommand,
} from "@heterosgd/scheduler";
import { createBlendJournal } from "../device/blend-shard.js";
import type { DeviceUsage, ModelMemory } from "../device/api.js";
import type { DeviceCall, SupervisedDevice } from "../device/supervisor.js";
import type { TrainerError } from "../errors.js";
import { deviceCallOf, mostUpdates } from "./device-call-of.js";
import { createDeviceCalls, type Loss } from "./device-calls.js";
import { shareOutEvaluation } from "./evaluation.js";
import { createEventQueue } from "./event-queue.js";
import type { ExecutableCommand, Executor } from "./executor.js";
import { divergence, rateOutOfRange } from "./divergence.js";
import { createLostModels, type LostModels } from "./lost-models.js";
import { ownerOf, type ModelTable } from "./model-table.js";
import type { AddedDevice } from "./open-devices.js";
import type { PaceLimits } from "./pace.js";
import { createPermutations } from "./permutations.js";
import { repliesOf } from "./replies.js";
import { noSnapshots, type Snapshots } from "./snapshots.js";
import { createStepGroups, type StepRequest } from "./step-groups.js";

export interface DeviceExecutorOptions {
  /** By device id, those that are there from the start. */
  readonly devices: readonly SupervisedDevice[];
  readonly models: ModelTable;
  /** Elements of a model's parameter array. */
  readonly modelLength: number;
  readonly trainRows: number;
  readonly seed: number;
  readonly evaluationRows: number;
  /** Rows that a device evaluates in one call. */
  readonly evaluationChunk: number;
  readonly onEvaluated: (id: number, sums: MetricSums) => void;
  /** Where checkpoints' models go. Default: nowhere. */
  readonly snapshots?: Snapshots | undefined;
  /** How long devices may take to answer. */
  readonly pace?: PaceLimits | undefined;
  /**
   * Told of a loss in place of the policy: it must post `lost` and hand on, or first have another
   * device join. Default: does both at once.
   */
  readonly onLost?: (loss: Loss) => void;
}

export interface DeviceExecutor extends Executor {
  /** Puts an event of the coordinator's own (a finish) in line. */
  post(event: PolicyEvent): void;
  /** Makes an opened device, all others and the policy (by this event) known to each other. */
  join(added: AddedDevice, event: JoinedEvent): void;
  /** Memory of a lost device's models that nobody uses any more, for another; undefined if there is none. */
  release(counts: Parameters<LostModels["release"]>[0]): readonly ModelMemory[] | undefined;
  /** Ends the run with this error. */
  fail(error: unknown): void;
  /** Devices that can be asked for something. */
  living(): readonly DeviceId[];
  usage(): readonly (DeviceUsage | null)[];
  /** Why devices were lost, in that order. */
  losses(): readonly TrainerError[];
}

export function createDeviceExecutor(options: DeviceExecutorOptions): DeviceExecutor {
  const { devices, models } = options;
  const callOf = deviceCallOf(models);
  const events = createEventQueue<PolicyEvent>();
  const deviceNames = devices.map(({ name }) => name);
  const replies = deviceNames.map(repliesOf);
  const usage: (DeviceUsage | null)[] = devices.map(() => null);
  const { onLost = tellAndHandOn, snapshots = noSnapshots } = options;
  const stuck = new Set<DeviceId>();
  const calls = createDeviceCalls({
    devices,
    pace: options.pace,
    onLost(loss) {
      // A thread that can't be ended may yet write to what it held.
      if (!loss.ended) stuck.add(loss.device);
      onLost(loss);
    },
    onFailure: events.fail,
  });
  const permutations = createPermutations(options.trainRows, options.seed, (order) => {
    for (const id of calls.living()) {
      calls.send(id, { work: (device) => device.addPermutation(order) });
    }
  });
  const groups = createStepGroups(calls, replies);
  const lostModels = createLostModels(models);
  // Losses that the policy is carrying on from.
  const told: DeviceId[] = [];
  // What all devices share, asked for while there was none.
  const waiting: (() => void)[] = [];
  let evaluations = 0;

  function tellAndHandOn({ device, reason: { message }, handOn }: Loss): void {
    events.push({ type: "lost", device, reason: message });
    handOn();
  }

  function join({ device, models: own }: AddedDevice, event: JoinedEvent): void {
    const before = models.slots.length;
    models.add(own);
    const added = models.slots.slice(before);
    for (const other of calls.living()) {
      calls.send(other, { work: (api) => api.addModels(added) });
    }
    const id = calls.join(device);
    if (id !== event.device.id) {
      throw new RangeError(`device ${id} was to join as device ${event.device.id}`);
    }
    deviceNames.push(device.name);
    replies.push(repliesOf(device.name));
    usage.push(null);
    groups.join();
    const attach = { models: models.slots, own: [...own.keys()].map(models.slot) };
    calls.send(id, { work: (api) => api.attach(attach) });
    for (const order of permutations.slots()) {
      calls.send(id, { work: (api) => api.addPermutation(order) });
    }
    events.push(event);
    for (const share of waiting.splice(0)) share();
  }

  /** Shares work out over the devices that there are, or over the next one if there is none. */
  function shareOut(share: () => void): void {
    if (calls.living().length > 0) share();
    else waiting.push(share);
  }

  /** What is to be done about a batch, given the rows that it holds. */
  function training(
    { device: id, rows }: StepCommand | AccumulateCommand,
    learningRate: number | null,
  ): Omit<StepRequest, "call"> {
    const count = countRows(rows);
    return {
      rows: count,
      answer({ nonZeros, seconds, loss, usage: spent }) {
        permutations.release(rows);
        usage[id] = spent;
        calls.measured(id, count, seconds);
        if (Number.isFinite(loss))
          events.push({ type: "done", device: id, rows, nonZeros, seconds, loss });
        else events.fail(divergence(deviceNames[id]!, rows, learningRate, loss));
      },
      lost: () => permutations.release(rows),
    };
  }

  /** Has each device do a part of all elements; another does it whose device is lost. */
  function inSlices(taskOf: (slice: Slice) => DeviceCall<DeviceUsage>, onDone: () => void): void {
    const shards = calls.living();
    let unfinished = shards.length;
    const give = (id: DeviceId, task: DeviceCall<DeviceUsage>): void =>
      calls.send(id, {
        work: async (device) => replies[id]!.usage(await task(device)),
        answer(spent) {
          usage[id] = spent;
          unfinished--;
          if (unfinished === 0) onDone();
        },
        lost: () => shareOut(() => give(calls.living()[0]!, task)),
      });
    shards.forEach((id, i) => give(id, taskOf(sliceFor(i, shards.length, options.modelLength))));
  }

  /** Blends as soon as there is a device; until it is done nobody gets the memory. */
  function blend(command: BlendCommand): void {
    const read = [...command.terms, ...command.stateTerms].map(({ model }) => model);
    const letGo = lostModels.hold([command.target, ...read]);
    shareOut(() => {
      const call = callOf.blend(command);
      const updates = mostUpdates(models, command.stateTerms);
      const inPlace = [...call.terms, ...call.stateTerms].some(
        ({ model }) => model === call.target,
      );
      const finish = () => {
        letGo();
        if (command.stateTerms.length > 0) models.slots[call.target]!.updates[0] = updates;
        const owner = ownerOf(command.target);
        if (owner !== null) calls.send(owner, { work: (device) => device.refresh(call.target) });
        events.push({ type: "blended", id: command.id });
      };
      inSlices((slice) => {
        // Nobody changes the terms meanwhile, or the journal says how far the slice has come.
        const journal = inPlace ? createBlendJournal() : null;
        return (device) => device.blend({ ...call, ...slice, journal });
      }, finish);
    });
  }

  /** Has the devices copy the models, each a part of all; whoever writes them does so meanwhile. */
  function checkpoint({ models: names }: CheckpointCommand): void {
    const into = snapshots.begin(names);
    if (into === null) return events.push({ type: "checkpointed" });
    const copies = names.map((name, i) => ({ model: models.slot(name), into: into[i]! }));
    const letGo = lostModels.hold(names);
    const finish = () => {
      letGo();
      const updates = names.map((name) => models.memory(name).updates[0]!);
      void snapshots.taken(updates, null);
      events.push({ type: "checkpointed" });
    };
    shareOut(() => inSlices((slice) => (device) => device.copy({ copies, ...slice }), finish));
  }

  function evaluate({ id }: EvaluateCommand): void {
    shareOutEvaluation(calls, {
      replies: (device) => replies[device]!,
      model: models.slot("global"),
      evaluation: ++evaluations,
      rows: options.evaluationRows,
      chunk: options.evaluationChunk,
      onReply: (device, reply) => (usage[device] = reply.usage),
      onDone(sums) {
        if (sums !== null) options.onEvaluated(id, sums);
        events.push({ type: "evaluated", id });
      },
    });
  }

  function execute(command: ExecutableCommand): void {
    if (command.type !== "step") groups.flush();
    switch (command.type) {
      case "step":
        if (!(Math.abs(command.learningRate) <= largestLearningRate)) {
          const name = deviceNames[command.device]!;
          return events.fail(rateOutOfRange(name, command.rows, command.learningRate));
        }
        return groups.add(command.device, {
          ...training(command, command.learningRate),
          call: callOf.step(command, permutations.hold(command.rows)),
        });
      case "accumulate": {
        const { device } = command;
        const call = callOf.accumulate(command, permutations.hold(command.rows));
        return calls.send(device, {
          ...training(command, null),
          async work(api) {
            const [reply] = replies[device]!.steps([await api.accumulate(call)], 1);
            return reply!;
          },
        });
      }
      case "pull": {
        const model = models.slot("global");
        return calls.send(command.device, { work: (api) => api.pull(model) });
      }
      case "push": {
        const { device } = command;
        const call = callOf.push(command);
        return calls.send(device, {
          work: async (api) => replies[device]!.push(await api.push(call), call.norm),
          answer(reply) {
            usage[device] = reply.usage;
            events.push({ type: "pushed", device, norm: reply.norm });
          },
        });
      }
      case "apply": {
        const { device } = command;
        const call = callOf.apply(command);
        return calls.send(device, {
          work: async (api) => replies[device]!.usage(await api.apply(call)),
          answer(spent) {
            usage[device] = spent;
            events.push({ type: "applied", device });
          },
        });
      }
      case "blend":
        return blend(command);
      case "rotate":
        return models.rotate(command.names);
      case "evaluate":
        return shareOut(() => evaluate(command));
      case "checkpoint":
        return checkpoint(command);
    }
  }

  return {
    execute,
    async next() {
      for (const device of told.splice(0)) lostModels.heard(device);
      if (events.isEmpty()) groups.send();
      const event = await events.next();
      if (event.type === "lost" && !stuck.has(event.device)) told.push(event.device);
      return event;
    },
    release: (counts) => lostModels.release(counts),
    post: events.push,
    fail: events.fail,
    join,
    living: () => calls.living(),
    usage: () => usage,
    losses: () => calls.losses(),
  };
}
