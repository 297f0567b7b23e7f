/**
 * A deterministic executor for tests: a virtual clock, devices that need `rows / speed` seconds for
 * a batch, and models that are nothing but the rows they have been trained on. It refuses what the
 * contract forbids.
 */
import { expect } from "vitest";
import type {
  Command,
  DeviceId,
  DeviceInfo,
  ModelName,
  Policy,
  PolicyEvent,
  PolicySetup,
  Report,
  RowRange,
  StopReason,
} from "../src/index.js";

export interface FakeDevice extends DeviceInfo {
  /** Rows a second. */
  readonly speed: number;
}

export interface Incident {
  readonly at: number;
  readonly event: PolicyEvent;
  /** Speed of a device that joins. */
  readonly speed?: number;
}

export interface FakeRun<State> {
  readonly state: State;
  readonly reason: StopReason;
  readonly events: readonly PolicyEvent[];
  /** What `start` answered, then what each event was answered with. */
  readonly commands: readonly (readonly Command[])[];
  readonly reports: readonly Report[];
  /**
   * Rows that the final global model has been trained on, `epoch * N + position`, with repetitions.
   */
  readonly trained: readonly number[];
  /** The most batches that were outstanding at a device at a time. */
  readonly deepest: number;
}

interface Model {
  readonly rows: readonly RowRange[];
  /** How many of the ranges came with the model that it was copied from. */
  readonly inherited: number;
}

interface Queued {
  readonly command: Command;
  readonly seconds: number;
}

interface Worker {
  readonly info: FakeDevice;
  alive: boolean;
  readonly queue: Queued[];
  /** When the front of the queue is complete. */
  busyUntil: number;
}

const pushSeconds = 1 / 64;
const sliceSeconds = 1 / 128;
const evaluateSeconds = 1 / 2;

export function runFake<State>(
  policy: Policy<State>,
  setup: PolicySetup & { readonly devices: readonly FakeDevice[] },
  incidents: readonly Incident[] = [],
): FakeRun<State> {
  const workers = new Map<DeviceId, Worker>();
  const models = new Map<ModelName, Model>();
  const events: PolicyEvent[] = [];
  const commands: (readonly Command[])[] = [];
  const reports: Report[] = [];
  const blends = new Map<number, { readonly waiting: Set<DeviceId>; readonly apply: () => void }>();
  const pending: PolicyEvent[] = [];
  const script = incidents.toSorted((a, b) => a.at - b.at);
  let evaluation: { readonly id: number; readonly until: number } | null = null;
  let reason: StopReason | null = null;
  let deepest = 0;
  let now = 0;

  const empty: Model = { rows: [], inherited: 0 };
  const model = (name: ModelName): Model => {
    const found = models.get(name);
    if (found === undefined) throw new Error(`The policy never named the model ${name}.`);
    return found;
  };
  const living = () => [...workers.values()].filter((worker) => worker.alive);
  const rowIds = (ranges: readonly RowRange[]) =>
    ranges.flatMap(({ epoch, start, count }) =>
      Array.from({ length: count }, (_, i) => epoch * setup.rows + start + i),
    );

  function enter(info: FakeDevice): void {
    workers.set(info.id, { info, alive: true, queue: [], busyUntil: now });
    for (const name of policy.models([...workers.values()].map((worker) => worker.info))) {
      if (!models.has(name)) models.set(name, empty);
    }
  }

  function enqueue(device: DeviceId, command: Command, seconds: number): void {
    const worker = workers.get(device);
    if (worker === undefined) throw new Error(`There is no device ${device}.`);
    if (!worker.alive) return;
    if (worker.queue.length === 0) worker.busyUntil = now + seconds;
    worker.queue.push({ command, seconds });
    const steps = worker.queue.filter((queued) => queued.command.type === "step").length;
    deepest = Math.max(deepest, steps);
  }

  function execute(command: Command): void {
    expect(reason, "nothing follows a stop").toBeNull();
    if (command.type !== "stop") expect(evaluation, "an evaluation is left alone").toBeNull();
    switch (command.type) {
      case "step":
      case "accumulate": {
        const { device, rows } = command;
        const info = workers.get(device)?.info;
        const count = rows.reduce((sum, range) => sum + range.count, 0);
        expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThanOrEqual(info?.maxBatchRows ?? 0);
        expect(new Set(rows.map((range) => range.epoch)).size).toBe(1);
        return enqueue(device, command, count / (info?.speed ?? 1));
      }
      case "push":
        return enqueue(command.device, command, pushSeconds);
      case "pull":
      case "apply":
        return enqueue(command.device, command, 0);
      case "blend": {
        const { target, terms } = command;
        const blend = () => {
          const own = terms.flatMap((term) =>
            model(term.model).rows.slice(model(term.model).inherited),
          );
          const rows = [...model("global").rows, ...own];
          models.set(target, { rows, inherited: rows.length });
        };
        const waiting = new Set(living().map((worker) => worker.info.id));
        blends.set(command.id, { waiting, apply: blend });
        for (const device of waiting) enqueue(device, command, sliceSeconds);
        return;
      }
      case "rotate": {
        const busy = living().flatMap((worker) =>
          worker.queue.flatMap((queued) => uses(queued.command)),
        );
        for (const name of command.names) expect(busy).not.toContain(name);
        const old = command.names.map(model);
        command.names.forEach((name, i) => models.set(name, old[(i + 1) % old.length] ?? empty));
        return;
      }
      case "evaluate":
        expect(living().every((worker) => worker.queue.length === 0)).toBe(true);
        evaluation = { id: command.id, until: now + evaluateSeconds };
        return;
      case "report":
        reports.push(command.report);
        return;
      case "stop":
        reason = command.reason;
    }
  }

  function complete(worker: Worker): void {
    const { command, seconds } = worker.queue.shift() as Queued;
    worker.busyUntil = now + (worker.queue[0]?.seconds ?? 0);
    const device = worker.info.id;
    switch (command.type) {
      case "step":
      case "accumulate": {
        const into = command.type === "step" ? command.model : command.into;
        const before = command.type === "accumulate" && command.reset ? empty : model(into);
        models.set(into, { ...before, rows: [...before.rows, ...command.rows] });
        pending.push({ type: "done", device, rows: command.rows, nonZeros: 1, seconds, loss: 1 });
        return;
      }
      case "pull": {
        const { rows } = model("global");
        models.set(`replica:${device}`, { rows, inherited: rows.length });
        return;
      }
      case "push":
        pending.push({ type: "pushed", device, norm: command.norm ? 1 : null });
        return;
      case "blend":
        return sliceDone(device, command.id);
      default:
        throw new Error(`The fake does not know ${command.type}.`);
    }
  }

  function sliceDone(device: DeviceId, id: number): void {
    const blend = blends.get(id);
    if (blend === undefined || !blend.waiting.delete(device) || blend.waiting.size > 0) return;
    blends.delete(id);
    if (living().length === 0) return;
    blend.apply();
    pending.push({ type: "blended", id });
  }

  function happen({ event, speed = 1 }: Incident): void {
    if (event.type === "joined") enter({ ...event.device, speed });
    pending.push(event);
    if (event.type !== "lost") return;
    const worker = workers.get(event.device);
    if (worker === undefined) return;
    worker.alive = false;
    worker.queue.length = 0;
    for (const id of blends.keys()) sliceDone(event.device, id);
  }

  /** Moves the clock to whatever happens next. */
  function advance(): void {
    const busy = living().filter((worker) => worker.queue.length > 0);
    const next = Math.min(
      ...busy.map((worker) => worker.busyUntil),
      script[0]?.at ?? Infinity,
      living().length > 0 ? (evaluation?.until ?? Infinity) : Infinity,
    );
    if (next === Infinity) throw new Error("The policy waits for ever.");
    now = Math.max(now, next);
    const incident = script[0];
    if (incident !== undefined && incident.at <= now) {
      script.shift();
      return happen(incident);
    }
    if (evaluation !== null && evaluation.until <= now) {
      pending.push({ type: "evaluated", id: evaluation.id });
      evaluation = null;
      return;
    }
    const first = busy.find((worker) => worker.busyUntil <= now);
    if (first !== undefined) complete(first);
  }

  for (const device of setup.devices) enter(device);
  let [state, issued] = policy.start(setup);
  for (;;) {
    commands.push(issued);
    issued.forEach(execute);
    if (reason !== null) break;
    while (pending.length === 0) advance();
    const event = pending.shift() as PolicyEvent;
    events.push(event);
    if (events.length > 100_000) throw new Error("The policy goes on for ever.");
    [state, issued] = policy.next(state, event);
  }
  return {
    state,
    reason,
    events,
    commands,
    reports,
    trained: rowIds(model("global").rows),
    deepest,
  };
}

/** The models that a device's command reads or writes. */
function uses(command: Command): readonly ModelName[] {
  switch (command.type) {
    case "step":
      return [command.model];
    case "accumulate":
      return [command.model, command.into];
    case "pull":
      return ["global", `replica:${command.device}`];
    case "push":
      return [command.model ?? `replica:${command.device}`];
    case "apply":
      return [command.source, command.target];
    case "blend":
      return [command.target, ...command.terms.map((term) => term.model)];
    default:
      return [];
  }
}
