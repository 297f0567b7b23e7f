/**
 * Carries a policy's commands out on real devices, one worker each. What a device is told goes into
 * its queue at once; answers come back as events in the order in which they arrive.
 */
import type { MetricSums } from "@heterosgd/model";
import { sliceFor } from "@heterosgd/merge";
import {
  countRows,
  largestLearningRate,
  type AccumulateCommand,
  type BlendCommand,
  type DeviceId,
  type EvaluateCommand,
  type PolicyEvent,
  type StepCommand,
} from "@heterosgd/scheduler";
import { createBlendJournal } from "../device/blend-shard.js";
import type { BlendCall, DeviceUsage } from "../device/api.js";
import type { SupervisedDevice } from "../device/supervisor.js";
import type { TrainerError } from "../errors.js";
import { deviceCallOf, mostUpdates } from "./device-call-of.js";
import { createDeviceCalls } from "./device-calls.js";
import { shareOutEvaluation } from "./evaluation.js";
import { createEventQueue } from "./event-queue.js";
import type { ExecutableCommand, Executor } from "./executor.js";
import { divergence, rateOutOfRange } from "./divergence.js";
import { ownerOf, type ModelTable } from "./model-table.js";
import { createPermutations } from "./permutations.js";
import { createStepGroups, type StepRequest } from "./step-groups.js";

export interface DeviceExecutorOptions {
  /** By device id. */
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
}

export interface DeviceExecutor extends Executor {
  /** Puts an event of the coordinator's own (a finish) in line. */
  post(event: PolicyEvent): void;
  usage(): readonly (DeviceUsage | null)[];
  /** Why devices were lost, in that order. */
  losses(): readonly TrainerError[];
}

export function createDeviceExecutor(options: DeviceExecutorOptions): DeviceExecutor {
  const { devices, models } = options;
  const callOf = deviceCallOf(models);
  const events = createEventQueue<PolicyEvent>();
  const usage: (DeviceUsage | null)[] = devices.map(() => null);
  const calls = createDeviceCalls({
    devices,
    onLost: (device, { message }) => events.push({ type: "lost", device, reason: message }),
    onFailure: events.fail,
  });
  const permutations = createPermutations(options.trainRows, options.seed, (order) => {
    for (const id of devices.keys()) {
      calls.send(id, { work: (device) => device.addPermutation(order) });
    }
  });

  const groups = createStepGroups(calls, devices);

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
        else events.fail(divergence(devices[id]!.name, rows, learningRate, loss));
      },
      lost: () => permutations.release(rows),
    };
  }

  function blend(command: BlendCommand): void {
    const shards = calls.living();
    let unfinished = shards.length;
    const call = callOf.blend(command);
    const updates = mostUpdates(models, command.stateTerms);
    const give = (id: DeviceId, shard: Pick<BlendCall, "start" | "end" | "journal">): void =>
      calls.send(id, {
        work: (device) => device.blend({ ...call, ...shard }),
        answer(spent) {
          usage[id] = spent;
          unfinished--;
          if (unfinished === 0) finish();
        },
        // Nobody changes the terms meanwhile, or the journal says how far the shard has come.
        lost() {
          const [other] = calls.living();
          if (other !== undefined) give(other, shard);
        },
      });
    const finish = () => {
      if (command.stateTerms.length > 0) models.slots[call.target]!.updates[0] = updates;
      const owner = ownerOf(command.target);
      if (owner !== null) calls.send(owner, { work: (device) => device.refresh(call.target) });
      events.push({ type: "blended", id: command.id });
    };
    const inPlace = [...call.terms, ...call.stateTerms].some(({ model }) => model === call.target);
    shards.forEach((id, i) => {
      const slice = sliceFor(i, shards.length, options.modelLength);
      give(id, { ...slice, journal: inPlace ? createBlendJournal() : null });
    });
  }

  function evaluate({ id }: EvaluateCommand): void {
    shareOutEvaluation(calls, {
      model: models.slot("global"),
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
          const { name } = devices[command.device]!;
          return events.fail(rateOutOfRange(name, command.rows, command.learningRate));
        }
        return groups.add(command.device, {
          ...training(command, command.learningRate),
          call: callOf.step(command, permutations.hold(command.rows)),
        });
      case "accumulate": {
        const call = callOf.accumulate(command, permutations.hold(command.rows));
        return calls.send(command.device, {
          ...training(command, null),
          work: (api) => api.accumulate(call),
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
          work: (api) => api.push(call),
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
          work: (api) => api.apply(call),
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
        return evaluate(command);
      case "checkpoint":
        return events.push({ type: "checkpointed" });
    }
  }

  return {
    execute,
    next() {
      if (events.isEmpty()) groups.send();
      return events.next();
    },
    post: events.push,
    usage: () => usage,
    losses: () => calls.losses(),
  };
}
