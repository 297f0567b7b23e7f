/**
 * Carries a policy's commands out on real devices, one worker each. What a device is told goes into its
 * queue at once; answers come back as events in the order in which they arrive.
 */
import { mergeMetrics, type MetricSums } from "@heterosgd/model";
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
import type { DeviceUsage, ModelTerm, RowSpan, StepReply } from "../device/api.js";
import type { DeviceCall, SupervisedDevice } from "../device/supervisor.js";
import { TrainerError } from "../errors.js";
import { createEventQueue } from "./event-queue.js";
import type { ExecutableCommand, Executor } from "./executor.js";
import type { ModelTable } from "./model-table.js";
import { createPace } from "./pace.js";
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

interface Shard {
  readonly start: number;
  readonly end: number;
}

export function createDeviceExecutor(options: DeviceExecutorOptions): DeviceExecutor {
  const { devices, models } = options;
  const events = createEventQueue<PolicyEvent>();
  const alive = devices.map(() => true);
  const usage: (DeviceUsage | null)[] = devices.map(() => null);
  const losses: TrainerError[] = [];
  const paces = devices.map(() => createPace());
  // What to do, once a device is lost, with the shared work it had taken on.
  const onLoss = devices.map(() => new Set<() => void>());

  const permutations = createPermutations(options.trainRows, options.seed, (order) => {
    for (const id of devices.keys()) send(id, 0, (device) => device.addPermutation(order));
  });

  /** Makes a call; its answer is dropped and the device given up if anything goes wrong. */
  function send<T>(
    id: DeviceId,
    rows: number,
    work: DeviceCall<T>,
    answer: (value: T) => void = () => undefined,
  ): void {
    const device = devices[id];
    if (device === undefined)
      throw new RangeError(`the policy names device ${id}, which does not exist`);
    if (!alive[id]) return;
    const pace = paces[id]!;
    device.call(pace.begin(rows), work).then(
      (value) => {
        pace.end(rows);
        if (alive[id]) answer(value);
      },
      (error: unknown) => lose(id, error),
    );
  }

  function lose(id: DeviceId, error: unknown): void {
    if (!alive[id]) return;
    alive[id] = false;
    const reason = asTrainerError(error, devices[id]!.name);
    losses.push(reason);
    void devices[id]!.terminate();
    events.push({ type: "lost", device: id, reason: reason.message });
    for (const redo of onLoss[id]!) redo();
    onLoss[id]!.clear();
  }

  const living = (): DeviceId[] => [...devices.keys()].filter((id) => alive[id]);

  function train(
    id: DeviceId,
    rows: readonly RowRange[],
    learningRate: number | null,
    work: (
      api: Parameters<DeviceCall<StepReply>>[0],
      spans: readonly RowSpan[],
    ) => Promise<StepReply>,
  ): void {
    if (!alive[id]) return;
    const spans = permutations.hold(rows);
    const release = () => permutations.release(rows);
    onLoss[id]!.add(release);
    send(
      id,
      countRows(rows),
      (api) => work(api, spans),
      ({ nonZeros, seconds, loss, usage: spent }) => {
        onLoss[id]!.delete(release);
        release();
        usage[id] = spent;
        paces[id]!.measured(countRows(rows), seconds);
        if (Number.isFinite(loss))
          events.push({ type: "done", device: id, rows, nonZeros, seconds, loss });
        else events.fail(divergence(devices[id]!.name, rows, learningRate, loss));
      },
    );
  }

  const terms = (list: readonly Term[]): ModelTerm[] =>
    list.map(({ model, coefficient }) => ({ model: models.slot(model), coefficient }));

  function blend(command: BlendCommand): void {
    const shards = living();
    let unfinished = shards.length;
    const call = {
      target: models.slot(command.target),
      terms: terms(command.terms),
      stateTerms: terms(command.stateTerms),
    };
    const updates = mostUpdates(models, command.stateTerms);
    const give = (id: DeviceId, shard: Shard): void => {
      // A shard is computed from models that nobody changes meanwhile, so another device can redo it.
      const redo = () => {
        const [other] = living();
        if (other !== undefined) give(other, shard);
      };
      onLoss[id]!.add(redo);
      send(
        id,
        0,
        (device) => device.blend({ ...call, ...shard }),
        (spent) => {
          onLoss[id]!.delete(redo);
          usage[id] = spent;
          unfinished--;
          if (unfinished > 0) return;
          if (command.stateTerms.length > 0) models.slots[call.target]!.updates[0] = updates;
          const owner = ownerOf(command.target);
          if (owner !== null) send(owner, 0, (device) => device.refresh(call.target));
          events.push({ type: "blended", id: command.id });
        },
      );
    };
    shards.forEach((id, i) => give(id, sliceFor(i, shards.length, options.modelLength)));
  }

  function evaluate({ id }: EvaluateCommand): void {
    const model = models.slot("global");
    const parts: { readonly start: number; readonly sums: MetricSums }[] = [];
    const returned: { start: number; count: number }[] = [];
    let next = 0;
    let outstanding = 0;
    const take = () => {
      const again = returned.pop();
      if (again !== undefined || next >= options.evaluationRows) return again;
      const count = Math.min(options.evaluationChunk, options.evaluationRows - next);
      next += count;
      return { start: next - count, count };
    };
    const finishIfDone = () => {
      if (outstanding > 0 || next < options.evaluationRows || returned.length > 0) return;
      // In file order: rounding then does not depend on which device was first.
      const inOrder = parts.toSorted((a, b) => a.start - b.start).map(({ sums }) => sums);
      if (inOrder.length > 0) options.onEvaluated(id, mergeMetrics(inOrder));
      events.push({ type: "evaluated", id });
    };
    const give = (device: DeviceId): void => {
      const part = take();
      if (part === undefined) return;
      const redo = () => {
        outstanding--;
        returned.push(part);
        const [other] = living();
        if (other !== undefined) give(other);
      };
      onLoss[device]!.add(redo);
      outstanding++;
      send(
        device,
        part.count,
        (api) => api.evaluate({ model, ...part }),
        (reply) => {
          onLoss[device]!.delete(redo);
          outstanding--;
          usage[device] = reply.usage;
          parts.push({ start: part.start, sums: reply.sums });
          give(device);
          finishIfDone();
        },
      );
    };
    // Two parts a device, so that none waits for the coordinator.
    for (const device of [...living(), ...living()]) give(device);
    if (options.evaluationRows === 0) finishIfDone();
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
        return send(command.device, 0, (api) => api.pull(model));
      }
      case "push": {
        const { device, norm } = command;
        const model = models.slot(command.model ?? `replica:${device}`);
        return send(
          device,
          0,
          (api) => api.push({ model, norm }),
          (reply) => {
            usage[device] = reply.usage;
            events.push({ type: "pushed", device, norm: reply.norm });
          },
        );
      }
      case "apply": {
        const { device, scale } = command;
        const call = {
          source: models.slot(command.source),
          target: models.slot(command.target),
          scale,
        };
        return send(
          device,
          0,
          (api) => api.apply(call),
          (spent) => {
            usage[device] = spent;
            events.push({ type: "applied", device });
          },
        );
      }
      case "blend":
        return blend(command);
      case "rotate":
        return models.rotate(command.names);
      case "evaluate":
        return evaluate(command);
    }
  }

  for (const [id, device] of devices.entries()) void device.death.then((error) => lose(id, error));

  return {
    execute,
    next: events.next,
    post: events.push,
    usage: () => usage,
    losses: () => losses,
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

function asTrainerError(error: unknown, device: string): TrainerError {
  if (error instanceof TrainerError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new TrainerError("DEVICE_FAILED", `${device} failed: ${message}`, { cause: error });
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
