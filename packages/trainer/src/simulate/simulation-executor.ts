/**
 * Carries a policy's commands out in this thread, on a virtual clock: real arithmetic, simulated
 * time. Work reads the parameters as they are when it begins, and shows when it is complete.
 */
import type { MetricSums } from "@heterosgd/model";
import {
  countRows,
  type AccumulateCommand,
  type BlendCommand,
  type CheckpointCommand,
  type DeviceId,
  type EvaluateCommand,
  type ModelName,
  type PolicyEvent,
  type PullCommand,
  type StepCommand,
} from "@heterosgd/scheduler";
import { copyArrays } from "../checkpoint/model-names.js";
import { deviceCallOf, mostUpdates } from "../coordinator/device-call-of.js";
import { divergence } from "../coordinator/divergence.js";
import type { ExecutableCommand, Executor } from "../coordinator/executor.js";
import { ownerOf, type ModelTable } from "../coordinator/model-table.js";
import type { Permutations } from "../coordinator/permutations.js";
import { noSnapshots, type Snapshots } from "../coordinator/snapshots.js";
import type { StepReply } from "../device/api.js";
import { atBarrier } from "./barrier.js";
import { createBlends } from "./blends.js";
import { createLazyPulls } from "./lazy-pulls.js";
import type { Clock } from "./clock.js";
import { createDeferredStep, createScratch } from "./deferred-step.js";
import type { SimulatedDevice } from "./simulated-device.js";
import type { SimulationState } from "./simulation-state.js";
import { transferSeconds } from "./timing.js";

export interface SimulationExecutorOptions {
  readonly clock: Clock;
  /** By device id; those that join later too. */
  readonly devices: readonly SimulatedDevice[];
  readonly models: ModelTable;
  readonly modelLength: number;
  /** Of parameters and optimiser state together. */
  readonly modelBytes: number;
  readonly permutations: Permutations;
  readonly evaluationRows: number;
  /** Virtual seconds of an evaluation. */
  readonly evaluationSeconds: () => number;
  readonly onEvaluated: (id: number, sums: MetricSums) => void;
  /** Where checkpoints' models go. Default: nowhere. */
  readonly snapshots?: Snapshots | undefined;
  /** `simulationKey` of the devices. */
  readonly key: string;
  /** What a simulation goes on from; null for its beginning. */
  readonly state: SimulationState | null;
  /** Looked at between events. */
  readonly signal?: AbortSignal | undefined;
}

export interface SimulationExecutor extends Executor {
  /** Puts an event of the coordinator's own in line. */
  post(event: PolicyEvent): void;
  join(device: DeviceId): void;
  lose(device: DeviceId, reason: string): void;
  /** Makes these models what they are to be read as, and says all else that a checkpoint needs. */
  settle(models: readonly ModelName[]): Promise<SimulationState>;
}

const sharedModels = ["global", "previous", "next"] as const;

/** Real milliseconds between two looks at what else the process has to do. */
const YIELD_MS = 50;

export function createSimulationExecutor(options: SimulationExecutorOptions): SimulationExecutor {
  const { clock, devices, models, modelBytes, permutations, state } = options;
  const { snapshots = noSnapshots } = options;
  const callOf = deviceCallOf(models);
  const events: PolicyEvent[] = [...(state?.pending ?? [])];
  /** What happens while a checkpoint is taken, and has to wait for its end; null at other times. */
  let deferred: (() => void)[] | null = null;
  const scratch = createScratch();
  const copies = createLazyPulls(devices.map(({ host }) => host));
  const steps = devices.map(() => createDeferredStep(scratch));
  /** Slots of models that a reduction has left with every device. */
  const everywhere = new Set(
    (state?.everywhere ?? (["global"] as const)).filter(models.has).map(models.slot),
  );
  let lastYield = performance.now();
  let interrupted = false;

  const beginBlend = createBlends(clock, devices, modelBytes);

  function train(
    command: StepCommand | AccumulateCommand,
    work: () => Promise<{ reply: StepReply; land: () => void | Promise<void> }>,
  ): void {
    const { device: id, rows } = command;
    const { timing, give } = devices[id]!;
    const count = countRows(rows);
    const size = command.type === "step" ? (command.microBatchRows ?? count) : count;
    give({
      activity: "training",
      dropped: () => permutations.release(rows),
      async begin() {
        const began = clock.now();
        const { reply, land } = await work();
        const { nonZeros, loss } = reply;
        if (!Number.isFinite(loss)) {
          const rate = command.type === "step" ? command.learningRate : null;
          throw divergence(`device ${id}`, rows, rate, loss);
        }
        const until = timing.finish(began, {
          rows: count,
          nonZeros,
          updates: Math.ceil(count / size),
        });
        const seconds = until - began;
        return {
          until,
          async land() {
            await land();
            permutations.release(rows);
            events.push({ type: "done", device: id, rows, nonZeros, seconds, loss });
          },
        };
      },
    });
  }

  function step(command: StepCommand): void {
    const { host } = devices[command.device]!;
    const call = callOf.step(command, permutations.hold(command.rows));
    const isShared = !command.model.includes(":");
    train(command, async () => {
      await copies.make(command.device, command.model);
      if (!isShared) return { reply: await host.step(call), land: () => undefined };
      const memory = models.slots[call.model]!;
      everywhere.delete(call.model);
      const { result, land } = await steps[command.device]!.take(memory, () => host.step(call));
      return {
        reply: result,
        async land() {
          await copies.makeAllOf(call.model);
          land();
        },
      };
    });
  }

  function accumulate(command: AccumulateCommand): void {
    const { host } = devices[command.device]!;
    const call = callOf.accumulate(command, permutations.hold(command.rows));
    train(command, async () => {
      const model = copies.sourceOf(command.device, command.model) ?? call.model;
      return { reply: await host.accumulate({ ...call, model }), land: () => undefined };
    });
  }

  function pull({ device }: PullCommand): void {
    const { timing, give } = devices[device]!;
    const slot = models.slot("global");
    give({
      activity: "merging",
      begin() {
        copies.pull(device, slot);
        const seconds = everywhere.has(slot) ? 0 : transferSeconds(timing.link, modelBytes);
        return { until: clock.now() + seconds, land: () => undefined };
      },
    });
  }

  function blend(command: BlendCommand): void {
    const call = callOf.blend(command);
    const target = models.slots[call.target]!;
    const updates = mostUpdates(models, command.stateTerms);
    beginBlend(command, async () => {
      const { host } = devices.find((device) => device.isThere()) ?? devices[0]!;
      await copies.makeFor(command, call.target);
      await host.blend({ ...call, start: 0, end: options.modelLength, journal: null });
      if (command.stateTerms.length > 0) target.updates[0] = updates;
      // Straight onto `global` goes what one device has made, over its link alone.
      if (command.target === "global") everywhere.delete(call.target);
      else everywhere.add(call.target);
      events.push({ type: "blended", id: command.id });
    });
  }

  function evaluate({ id }: EvaluateCommand): void {
    const model = models.slot("global");
    clock.schedule(clock.now() + options.evaluationSeconds(), async () => {
      const count = options.evaluationRows;
      if (count > 0) {
        const { sums } = await devices[0]!.host.evaluate({
          model,
          evaluation: id,
          start: 0,
          count,
        });
        options.onEvaluated(id, sums);
      }
      events.push({ type: "evaluated", id });
    });
  }

  function stateOf(pending: readonly PolicyEvent[]): SimulationState {
    return {
      key: options.key,
      now: clock.now(),
      devices: devices.map((device) => device.whereabouts()),
      random: devices.map(({ timing }) => timing.random()),
      everywhere: sharedModels.filter(
        (name) => models.has(name) && everywhere.has(models.slot(name)),
      ),
      pending: pending.filter((event) => event.type === "lost" || event.type === "joined"),
    };
  }

  /** Makes the copies that these models are, if they have not been made. */
  async function makeAll(names: readonly ModelName[]): Promise<void> {
    for (const name of names) {
      const owner = ownerOf(name);
      if (owner !== null) await copies.make(owner, name);
    }
  }

  /**
   * The copy is taken when all devices have done what they were told, pulls included, so that none is
   * at work where the run goes on. What would happen meanwhile happens right after it, there as here.
   */
  function checkpoint({ models: names }: CheckpointCommand): void {
    const into = snapshots.begin(names);
    if (into === null) return void events.push({ type: "checkpointed" });
    const pending = events.splice(0);
    const waiting: (() => void)[] = [];
    deferred = waiting;
    atBarrier(clock, devices, async () => {
      await makeAll(names);
      for (const [i, name] of names.entries()) copyArrays(models.memory(name), into[i]!);
      const updates = names.map((name) => models.memory(name).updates[0]!);
      await snapshots.taken(updates, stateOf(pending));
      events.push({ type: "checkpointed" }, ...pending);
      deferred = null;
      for (const work of waiting) clock.schedule(clock.now(), work);
    });
  }

  /** Has something happen, after the checkpoint if one is being taken. */
  function happen(work: () => void): void {
    if (deferred === null) work();
    else deferred.push(work);
  }

  function execute(command: ExecutableCommand): void {
    switch (command.type) {
      case "step":
        return step(command);
      case "accumulate":
        return accumulate(command);
      case "pull":
        return pull(command);
      case "push": {
        const { device } = command;
        const { host, give } = devices[device]!;
        const call = callOf.push(command);
        return give({
          activity: "merging",
          begin: () => ({
            until: clock.now(),
            async land() {
              await copies.make(device, command.model);
              const { norm } = await host.push(call);
              events.push({ type: "pushed", device, norm });
            },
          }),
        });
      }
      case "apply": {
        const { device } = command;
        const { host, timing, give } = devices[device]!;
        const call = callOf.apply(command);
        return give({
          activity: "merging",
          begin: () => ({
            until: clock.now() + transferSeconds(timing.link, modelBytes),
            async land() {
              await copies.makeAllOf(call.target);
              await host.apply(call);
              everywhere.delete(call.target);
              events.push({ type: "applied", device });
            },
          }),
        });
      }
      case "blend":
        return blend(command);
      case "rotate":
        return models.rotate(command.names);
      case "evaluate":
        return evaluate(command);
      case "checkpoint":
        return checkpoint(command);
    }
  }

  return {
    execute,
    post: (event) => happen(() => void events.push(event)),
    join(id) {
      happen(() => {
        devices[id]!.arrive();
        events.push({ type: "joined", device: devices[id]!.info });
      });
    },
    lose(id, reason) {
      happen(() => {
        devices[id]!.leave();
        events.push({ type: "lost", device: id, reason });
      });
    },
    async settle(names) {
      await makeAll(names);
      return stateOf(events);
    },
    async next() {
      for (;;) {
        // Timers and signals get their turn.
        if (performance.now() - lastYield > YIELD_MS) {
          await new Promise((resolve) => setImmediate(resolve));
          lastYield = performance.now();
        }
        if (options.signal?.aborted === true && !interrupted && deferred === null) {
          interrupted = true;
          events.push({ type: "finish", reason: "signal" });
        }
        const event = events.shift();
        if (event !== undefined) return event;
        if (!(await clock.advance())) throw new Error("nothing is left to happen");
      }
    },
  };
}
