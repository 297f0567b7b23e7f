/**
 * Carries a policy's commands out on real devices, one worker each. What a device is told goes into
 * its queue at once; answers come back as events in the order in which they arrive.
 */
import type { MetricSums } from "@heterosgd/model";
import { sliceFor } from "@heterosgd/merge";
import type {
  BlendCommand,
  DeviceId,
  EvaluateCommand,
  ModelName,
  PolicyEvent,
  RowRange,
  Term,
} from "@heterosgd/scheduler";
import { createBlendJournal } from "../device/blend-shard.js";
import type { BlendCall, DeviceUsage, ModelTerm, RowSpan, StepReply } from "../device/api.js";
import type { DeviceCall, SupervisedDevice } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import { createDeviceCalls } from "./device-calls.js";
import { shareOutEvaluation } from "./evaluation.js";
import { createEventQueue } from "./event-queue.js";
import type { ExecutableCommand, Executor } from "./executor.js";
import type { ModelTable } from "./model-table.js";
import { createPermutations } from "./permutations.js";

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

  function train(
    id: DeviceId,
    rows: readonly RowRange[],
    learningRate: number | null,
    work: (
      api: Parameters<DeviceCall<StepReply>>[0],
      spans: readonly RowSpan[],
    ) => Promise<StepReply>,
  ): void {
    const spans = permutations.hold(rows);
    const count = countRows(rows);
    calls.send(id, {
      rows: count,
      work: (api) => work(api, spans),
      answer({ nonZeros, seconds, loss, usage: spent }) {
        permutations.release(rows);
        usage[id] = spent;
        calls.measured(id, count, seconds);
        if (Number.isFinite(loss))
          events.push({ type: "done", device: id, rows, nonZeros, seconds, loss });
        else events.fail(divergence(devices[id]!.name, rows, learningRate, loss));
      },
      lost: () => permutations.release(rows),
    });
  }

  const terms = (list: readonly Term[]): ModelTerm[] =>
    list.map(({ model, coefficient }) => ({ model: models.slot(model), coefficient }));

  function blend(command: BlendCommand): void {
    const shards = calls.living();
    let unfinished = shards.length;
    const call = {
      target: models.slot(command.target),
      terms: terms(command.terms),
      stateTerms: terms(command.stateTerms),
    };
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
    switch (command.type) {
      case "step": {
        const { device, rows, learningRate, microBatchRows = null } = command;
        const model = models.slot(command.model);
        return train(device, rows, learningRate, (api, spans) =>
          api.step({ rows: spans, microBatchRows, learningRate, model }),
        );
      }
      case "accumulate": {
        const model = models.slot(command.model);
        const into = models.slot(command.into);
        const { reset = false } = command;
        return train(command.device, command.rows, null, (api, spans) =>
          api.accumulate({ rows: spans, model, into, reset }),
        );
      }
      case "pull": {
        const model = models.slot("global");
        return calls.send(command.device, { work: (api) => api.pull(model) });
      }
      case "push": {
        const { device, norm } = command;
        const model = models.slot(command.model ?? `replica:${device}`);
        return calls.send(device, {
          work: (api) => api.push({ model, norm }),
          answer(reply) {
            usage[device] = reply.usage;
            events.push({ type: "pushed", device, norm: reply.norm });
          },
        });
      }
      case "apply": {
        const { device, scale } = command;
        const call = {
          source: models.slot(command.source),
          target: models.slot(command.target),
          scale,
        };
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
    }
  }

  return {
    execute,
    next: events.next,
    post: events.push,
    usage: () => usage,
    losses: () => calls.losses(),
  };
}

/** How many updates a blend of these models stands for: those of the furthest one. */
function mostUpdates(
  models: ModelTable,
  sources: readonly { readonly model: ModelName }[],
): number {
  return Math.max(0, ...sources.map(({ model }) => models.memory(model).updates[0] ?? 0));
}

/** The device that a model belongs to, null if it is everybody's. */
function ownerOf(model: ModelName): DeviceId | null {
  const [, device] = model.split(":");
  return device === undefined ? null : Number(device);
}

export function countRows(ranges: readonly RowRange[]): number {
  return ranges.reduce((sum, range) => sum + range.count, 0);
}

function divergence(
  device: string,
  rows: readonly RowRange[],
  learningRate: number | null,
  loss: number,
): TrainerError {
  const where = rows
    .map(({ epoch, start, count }) => `rows ${start + 1} to ${start + count} of epoch ${epoch + 1}`)
    .join(", ");
  const rate =
    learningRate === null ? "" : ` at learning rate ${Number(learningRate.toPrecision(4))}`;
  return new TrainerError(
    "DIVERGED",
    `training has diverged: the loss is ${loss} on ${device}, ${where}${rate}; try a smaller learning rate`,
  );
}
