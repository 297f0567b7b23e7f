/**
 * A deterministic executor for tests: a virtual clock, devices that need `rows / speed` seconds for
 * a batch, and toy models. Work sees the parameters as they are when it begins, and lands when it
 * is complete. It refuses what the contract forbids.
 */
import { expect } from "vitest";
import type {
  AccumulateCommand,
  BlendCommand,
  CheckpointModels,
  Command,
  DeviceId,
  ModelName,
  Policy,
  PolicyEvent,
  PolicySetup,
  Report,
  RowRange,
  StepCommand,
  StopReason,
  Transition,
} from "../src/index.js";
import { changes, uses } from "./command-models.js";
import type { FakeDevice, FakeRun, Incident, Resumption, Saved } from "./fake-run.js";
import { descend, gradient, initial, plus, zero } from "./toy-model.js";
import type { ToyModel } from "./toy-model.js";

interface Queued {
  readonly command: Command;
  readonly seconds: number;
  /** Takes in what the command reads as it begins; answers what to do when it is complete. */
  readonly begin: () => () => void;
}

interface Blending {
  /** Devices whose slices are not done. */
  readonly waiting: Set<DeviceId>;
  readonly command: BlendCommand;
}

interface Worker {
  readonly info: FakeDevice;
  alive: boolean;
  readonly queue: Queued[];
  /** What is left to do about the front of the queue. */
  land: () => void;
  /** When the front of the queue is complete. */
  busyUntil: number;
}

const applySeconds = 1 / 32;
const pushSeconds = 1 / 64;
const sliceSeconds = 1 / 128;
const evaluateSeconds = 1 / 2;
const checkpointSeconds = 1 / 4;

export function runFake<State>(
  policy: Policy<State>,
  setup: PolicySetup & { readonly devices: readonly FakeDevice[] },
  incidents: readonly Incident[] = [],
  resumption?: Resumption<State>,
): FakeRun<State> {
  const workers = new Map<DeviceId, Worker>();
  const models = new Map<ModelName, ToyModel>();
  /** Rows of each step and accumulation. */
  const made: (readonly RowRange[])[] = [...(resumption?.saved.made ?? [])];
  /** Models of devices that others may read. */
  const readable = new Set<ModelName>();
  const trajectory: (readonly number[])[] = [];
  const events: PolicyEvent[] = [];
  const times: number[] = [];
  const saved: Saved<State>[] = [];
  const commands: (readonly Command[])[] = [];
  const reports: Report[] = [];
  const blends = new Map<number, Blending>();
  const pending: PolicyEvent[] = [];
  const script = incidents.toSorted((a, b) => a.at - b.at);
  let evaluation: { readonly id: number; readonly until: number } | null = null;
  let checkpointed: number | null = null;
  let reason: StopReason | null = null;
  let deepest = 0;
  let now = resumption?.at ?? 0;

  const model = (name: ModelName): ToyModel => {
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
    const idle = () => undefined;
    workers.set(info.id, { info, alive: true, queue: [], land: idle, busyUntil: now });
    for (const name of policy.models([...workers.values()].map((worker) => worker.info))) {
      if (!models.has(name)) models.set(name, name === "global" ? initial : zero);
    }
  }

  function enqueue(
    device: DeviceId,
    command: Command,
    seconds: number,
    begin: Queued["begin"],
  ): void {
    const worker = workers.get(device);
    if (worker === undefined) throw new Error(`There is no device ${device}.`);
    expect(worker.alive, "nothing is asked of a device that is lost").toBe(true);
    for (const name of changes(command)) {
      readable.delete(name);
      const inUse = [...blends.values()].some((other) => uses(other.command).includes(name));
      expect(inUse, `${name} is left alone while it is blended`).toBe(name === "global" && inUse);
    }
    worker.queue.push({ command, seconds, begin });
    if (worker.queue.length === 1) beginFront(worker);
    const work = worker.queue.filter(
      ({ command: { type } }) => type === "step" || type === "accumulate",
    );
    deepest = Math.max(deepest, work.length);
  }

  /** What takes no time happens at once. */
  function beginFront(worker: Worker): void {
    for (;;) {
      const [front] = worker.queue;
      if (front === undefined) return;
      worker.land = front.begin();
      worker.busyUntil = now + front.seconds;
      if (front.seconds > 0) return;
      worker.land();
      worker.queue.shift();
    }
  }

  function execute(command: Command): void {
    expect(reason, "nothing follows a stop").toBeNull();
    if (command.type !== "stop") {
      expect(evaluation, "an evaluation is left alone").toBeNull();
      expect(checkpointed, "a checkpoint is left alone").toBeNull();
    }
    switch (command.type) {
      case "step":
      case "accumulate": {
        const { device, rows } = command;
        const info = workers.get(device)?.info;
        const count = rows.reduce((sum, range) => sum + range.count, 0);
        expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThanOrEqual(info?.maxBatchRows ?? 0);
        expect(new Set(rows.map((range) => range.epoch)).size).toBe(1);
        const seconds = (count + (info?.fixedRows ?? 0)) / (info?.speed ?? 1);
        return enqueue(device, command, seconds, () => {
          const land = command.type === "step" ? step(command) : accumulate(command);
          return () => {
            land();
            pending.push({ type: "done", device, rows, nonZeros: 1, seconds, loss: 1 });
          };
        });
      }
      case "push": {
        const { device, norm, model: name = `replica:${device}` } = command;
        return enqueue(device, command, pushSeconds, () => () => {
          readable.add(name);
          pending.push({ type: "pushed", device, norm: norm ? 1 : null });
        });
      }
      case "pull": {
        const { device } = command;
        return enqueue(device, command, 0, () => {
          const global = model("global");
          return () => void models.set(`replica:${device}`, global);
        });
      }
      case "apply": {
        const { device, source, target, scale } = command;
        return enqueue(device, command, applySeconds, () => () => {
          const { w, made: ids } = model(target);
          const added = model(source);
          models.set(target, {
            w: plus(w, [scale, added.w]),
            made: new Set([...ids, ...added.made]),
          });
          models.set(source, zero);
          pending.push({ type: "applied", device });
        });
      }
      case "blend": {
        const { id, terms } = command;
        for (const { model: name } of terms) {
          const ready = !name.includes(":") || readable.has(name);
          expect(ready, `${name} has been pushed`).toBe(true);
        }
        const waiting = new Set(living().map((worker) => worker.info.id));
        blends.set(id, { waiting, command });
        for (const device of waiting) {
          enqueue(device, command, sliceSeconds, () => () => sliceDone(device, id));
        }
        return;
      }
      case "rotate": {
        const busy = living().flatMap((worker) =>
          worker.queue.flatMap((queued) => uses(queued.command)),
        );
        for (const name of command.names) expect(busy).not.toContain(name);
        const old = command.names.map(model);
        command.names.forEach((name, i) => models.set(name, old[(i + 1) % old.length] ?? zero));
        return;
      }
      case "evaluate":
        expect(living().every((worker) => worker.queue.length === 0)).toBe(true);
        evaluation = { id: command.id, until: now + evaluateSeconds };
        return;
      case "checkpoint":
        expect(living().every((worker) => worker.queue.length === 0)).toBe(true);
        expect(blends.size).toBe(0);
        checkpointed = now + checkpointSeconds;
        return;
      case "report":
        reports.push(command.report);
        return;
      case "stop":
        reason = command.reason;
    }
  }

  /** Others may be changing the model meanwhile: what is added is the difference. */
  function step({ rows, model: name, learningRate, microBatchRows }: StepCommand): () => void {
    const before = model(name).w;
    const after = descend(rows, before, learningRate, microBatchRows);
    const id = made.push(rows) - 1;
    return () => {
      const { w, made: ids } = model(name);
      models.set(name, { w: plus(w, [1, after], [-1, before]), made: new Set([...ids, id]) });
    };
  }

  function accumulate({ rows, model: at, into, reset }: AccumulateCommand): () => void {
    const sum = gradient(rows, model(at).w);
    const id = made.push(rows) - 1;
    return () => {
      const { w, made: ids } = reset === true ? zero : model(into);
      models.set(into, { w: plus(w, [1, sum]), made: new Set([...ids, id]) });
    };
  }

  function blend({ target, terms }: BlendCommand): void {
    const w = plus(
      zero.w,
      ...terms.map((term) => [term.coefficient, model(term.model).w] as const),
    );
    models.set(target, { w, made: new Set(terms.flatMap((term) => [...model(term.model).made])) });
    readable.add(target);
  }

  /** What a checkpoint or a stop leaves, of which nothing else may follow. */
  function keep(state: State, names: CheckpointModels): void {
    expect(names[0]).toBe("global");
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(!name.includes(":") || readable.has(name)).toBe(true);
    const devices = policy.devices(state).map(({ id }) => workers.get(id)?.info as FakeDevice);
    const copies = new Map(names.map((name) => [name, model(name)]));
    saved.push({ state, models: copies, made: [...made], devices, events: events.length });
  }

  function complete(worker: Worker): void {
    worker.land();
    worker.queue.shift();
    beginFront(worker);
  }

  function sliceDone(device: DeviceId, id: number): void {
    const blending = blends.get(id);
    if (blending === undefined || !blending.waiting.delete(device)) return;
    if (blending.waiting.size > 0) return;
    blends.delete(id);
    if (living().length === 0) return;
    blend(blending.command);
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
      living().length > 0 ? (evaluation?.until ?? checkpointed ?? Infinity) : Infinity,
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
    if (checkpointed !== null && checkpointed <= now) {
      pending.push({ type: "checkpointed" });
      checkpointed = null;
      return;
    }
    const first = busy.find((worker) => worker.busyUntil <= now);
    if (first !== undefined) complete(first);
  }

  /** With a checkpoint's models: only those that are anybody's on other devices. */
  function startOrResume(): Transition<State> {
    for (const device of resumption?.devices ?? resumption?.saved.devices ?? setup.devices) {
      enter(device);
    }
    if (resumption === undefined) return policy.start(setup);
    const same = resumption.devices === undefined;
    for (const [name, copy] of resumption.saved.models) {
      if (!same && name.includes(":")) continue;
      models.set(name, copy);
      readable.add(name);
    }
    return policy.resume(resumption.saved.state, resumption.devices ?? null);
  }

  let [state, issued] = startOrResume();
  for (;;) {
    commands.push(issued);
    issued.forEach(execute);
    const last = issued.at(-1);
    if (last?.type === "checkpoint" || last?.type === "stop") keep(state, last.models);
    expect(issued.slice(0, -1).every(({ type }) => type !== "checkpoint")).toBe(true);
    trajectory.push(model("global").w);
    if (reason !== null) break;
    while (pending.length === 0) advance();
    const event = pending.shift() as PolicyEvent;
    events.push(event);
    times.push(now);
    if (events.length > 100_000) throw new Error("The policy goes on for ever.");
    [state, issued] = policy.next(state, event);
  }
  return {
    state,
    reason,
    events,
    times,
    saved,
    commands,
    reports,
    trained: [...model("global").made].flatMap((id) => rowIds(made[id] ?? [])),
    trajectory,
    deepest,
  };
}
