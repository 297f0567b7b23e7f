import { isDeepStrictEqual } from "node:util";
import { sliceFor } from "@heterosgd/merge";
import type { DeviceId, PolicyEvent } from "@heterosgd/scheduler";
import type { DeviceApi } from "../device/api.js";
import { TrainerError } from "../errors.js";
import { deviceCallOf, mostUpdates } from "./device-call-of.js";
import type { ExecutableCommand, Executor } from "./executor.js";
import { ownerOf, type ModelTable } from "./model-table.js";
import type { Permutations } from "./permutations.js";

export interface ReplayExecutorOptions {
  /** By device id; in this thread. */
  readonly hosts: readonly DeviceApi[];
  /** Devices that are there from the start. */
  readonly present: readonly DeviceId[];
  readonly models: ModelTable;
  readonly modelLength: number;
  readonly permutations: Permutations;
  /** What happened in the recorded run, in order. */
  readonly events: readonly PolicyEvent[];
}

/** What devices do without a word. */
const unanswered: ReadonlySet<Queued["kind"]> = new Set(["pull", "blend", "refresh"]);

/** A command in a device's queue. */
interface Queued {
  readonly kind: ExecutableCommand["type"] | "refresh";
  /** The parts of its answer that must be as recorded. */
  readonly run: () => Promise<object>;
  /** Of a blend. */
  readonly id?: number;
}

export interface ReplayExecutor extends Executor {
  /** Has all devices do what they have been told and need not answer. */
  settle(): Promise<void>;
}

/**
 * Gives the recorded events one after another; before each, the device that it came from catches up
 * with its queue as far as the event says.
 */
export function createReplayExecutor(options: ReplayExecutorOptions): ReplayExecutor {
  const { hosts, models, permutations, events } = options;
  const callOf = deviceCallOf(models);
  const queues: Queued[][] = hosts.map(() => []);
  const alive = hosts.map((_, id) => options.present.includes(id));
  /** Blends onto a device's own model, which it takes over once they are done. */
  const ownTargets = new Map<number, { readonly owner: DeviceId; readonly model: number }>();
  let position = 0;

  function enqueue(device: DeviceId, queued: Queued): void {
    if (alive[device]) queues[device]!.push(queued);
  }

  function execute(command: ExecutableCommand): void {
    switch (command.type) {
      case "step":
      case "accumulate": {
        const { type: kind, device, rows } = command;
        const spans = permutations.hold(rows);
        const host = hosts[device]!;
        const train =
          command.type === "step"
            ? host.step.bind(host, callOf.step(command, spans))
            : host.accumulate.bind(host, callOf.accumulate(command, spans));
        const run = async () => {
          const { nonZeros, loss } = await train();
          permutations.release(rows);
          return { rows, nonZeros, loss };
        };
        return enqueue(device, { kind, run });
      }
      case "pull": {
        const model = models.slot("global");
        const run = async () => ({ pulled: await hosts[command.device]!.pull(model) });
        return enqueue(command.device, { kind: "pull", run });
      }
      case "push": {
        const { device } = command;
        const call = callOf.push(command);
        const run = async () => ({ norm: (await hosts[device]!.push(call)).norm });
        return enqueue(device, { kind: "push", run });
      }
      case "apply": {
        const { device } = command;
        const call = callOf.apply(command);
        const run = async () => {
          await hosts[device]!.apply(call);
          return {};
        };
        return enqueue(device, { kind: "apply", run });
      }
      case "blend": {
        const living = [...hosts.keys()].filter((id) => alive[id]);
        const call = callOf.blend(command);
        const updates = mostUpdates(models, command.stateTerms);
        const owner = ownerOf(command.target);
        if (owner !== null) ownTargets.set(command.id, { owner, model: call.target });
        return living.forEach((device, i) => {
          const shard = sliceFor(i, living.length, options.modelLength);
          const run = async () => {
            await hosts[device]!.blend({ ...call, ...shard, journal: null });
            if (command.stateTerms.length > 0) models.slots[call.target]!.updates[0] = updates;
            return {};
          };
          enqueue(device, { kind: "blend", id: command.id, run });
        });
      }
      case "rotate":
        return models.rotate(command.names);
      case "evaluate":
      case "checkpoint":
        return;
    }
  }

  /** Runs the device's queue up to and including the first command that `reached` accepts. */
  async function catchUp(device: DeviceId, reached: (queued: Queued) => boolean): Promise<object> {
    for (;;) {
      const queued = queues[device]?.shift();
      if (queued === undefined) throw mismatch(position, `device ${device} was told no such thing`);
      const answer = await queued.run();
      if (reached(queued)) return answer;
      if (!unanswered.has(queued.kind)) {
        throw mismatch(position, `device ${device} had to answer a ${queued.kind} first`);
      }
    }
  }

  /**
   * Its device may still be at what stands before it in the queue: a simulated network reduces
   * meanwhile. What a blend reads and writes is left alone until it is done, so it may as well be now.
   */
  async function blendShard(queue: Queued[], blend: number): Promise<void> {
    while (queue[0]?.kind === "pull" || queue[0]?.kind === "refresh") await queue.shift()!.run();
    const at = queue.findIndex(({ id }) => id === blend);
    if (at >= 0) await queue.splice(at, 1)[0]!.run();
  }

  function refresh(blend: number): void {
    const target = ownTargets.get(blend);
    ownTargets.delete(blend);
    if (target === undefined) return;
    const { owner, model } = target;
    const run = async () => ({ refreshed: await hosts[owner]!.refresh(model) });
    enqueue(owner, { kind: "refresh", run });
  }

  async function enact(event: PolicyEvent): Promise<void> {
    switch (event.type) {
      case "done":
        return expectAnswer(
          event,
          await catchUp(event.device, ({ kind }) => kind === "step" || kind === "accumulate"),
        );
      case "pushed":
        return expectAnswer(event, await catchUp(event.device, ({ kind }) => kind === "push"));
      case "applied":
        return expectAnswer(event, await catchUp(event.device, ({ kind }) => kind === "apply"));
      case "blended":
        for (const queue of queues) await blendShard(queue, event.id);
        return refresh(event.id);
      case "joined":
        alive[event.device.id] = true;
        return;
      case "lost": {
        alive[event.device] = false;
        const left = queues[event.device]!.splice(0);
        // The others did the lost device's share of a blend.
        for (const queued of left) if (queued.kind === "blend") await queued.run();
      }
    }
  }

  /** A recording may come from anywhere. */
  function requireDevice(event: PolicyEvent): void {
    if (event.type === "blended") return;
    if (!("device" in event)) return;
    const id = event.type === "joined" ? event.device.id : event.device;
    if (!Object.hasOwn(hosts, id)) throw mismatch(position, `there is no device ${id}`);
  }

  function expectAnswer(event: PolicyEvent, answer: object): void {
    for (const [key, value] of Object.entries(answer)) {
      const recorded = (event as unknown as Record<string, unknown>)[key];
      if (!isDeepStrictEqual(recorded, value)) {
        throw mismatch(
          position,
          `${key} is ${JSON.stringify(recorded)} there, but comes out as ${JSON.stringify(value)}`,
        );
      }
    }
  }

  return {
    execute,
    async next() {
      const event = events[position];
      if (event === undefined) throw mismatch(position, "the recording ends before the run does");
      position++;
      requireDevice(event);
      await enact(event);
      return event;
    },
    async settle() {
      for (const queue of queues) for (const queued of queue.splice(0)) await queued.run();
    },
  };
}

function mismatch(position: number, what: string): TrainerError {
  return new TrainerError(
    "REPLAY_MISMATCH",
    `cannot replay event ${position}: ${what}; replay with the data, seed and configuration of the recorded run`,
  );
}
