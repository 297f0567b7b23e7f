import { expect } from "vitest";
import { takeRows } from "../src/index.js";
import type {
  Command,
  CommandOf,
  DeviceId,
  MergeReport,
  MergeRule,
  ModelName,
  Policy,
  PolicyEvent,
  PolicySetup,
  Report,
  RoundReport,
  RowQueue,
  StopReason,
  Term,
} from "../src/index.js";

/** Weights by updates; by batch sizes if all made equally many. */
export const byUpdates: MergeRule = {
  needsNorm: false,
  momentum: 0,
  weigh: (replicas) => {
    const equal = replicas.every(({ updates }) => updates === replicas[0]?.updates);
    const amounts = replicas.map(({ updates, batchRows }) => (equal ? batchRows : updates));
    const total = amounts.reduce((sum, amount) => sum + amount, 0);
    const weights = amounts.map((amount) => amount / total);
    return { weights, stateWeights: weights, perturbed: false };
  },
};

/** The policy, but its states are frozen, and each one survives JSON without a difference. */
export function checked<State>(policy: Policy<State>): Policy<State> {
  return {
    ...policy,
    start: (setup) => freeze(policy.start(freeze(setup))),
    resume: (state, devices) => freeze(policy.resume(state, freeze(devices))),
    next: (state, event) => {
      const transition = freeze(policy.next(state, freeze(event)));
      const revived = JSON.parse(JSON.stringify(state)) as State;
      expect(JSON.stringify(policy.next(revived, event))).toBe(JSON.stringify(transition));
      return transition;
    },
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

export function mergeReports(reports: readonly Report[]): readonly MergeReport[] {
  return reports.filter((report): report is MergeReport => report.type === "merge");
}

export function roundReports(reports: readonly Report[]): readonly RoundReport[] {
  return reports.filter((report): report is RoundReport => report.type === "round");
}

export function commandsOf<T extends Command["type"]>(
  commands: readonly (readonly Command[])[],
  type: T,
): readonly CommandOf<T>[] {
  return commands.flat().filter((command): command is CommandOf<T> => command.type === type);
}

export interface Drive<State> {
  readonly state: () => State;
  /** What the last event (or the start) was answered with. */
  readonly commands: () => readonly Command[];
  /** Sends events; answers what the last of them was answered with. */
  readonly send: (...events: readonly PolicyEvent[]) => readonly Command[];
}

/** A policy to send events to by hand. */
export function drive<State>(policy: Policy<State>, setup: PolicySetup): Drive<State> {
  let [state, commands] = checked(policy).start(setup);
  return {
    state: () => state,
    commands: () => commands,
    send: (...events) => {
      for (const event of events) [state, commands] = checked(policy).next(state, event);
      return commands;
    },
  };
}

/** `done` of a device; policies that go by the clock are given one second. */
export function done(device: DeviceId, seconds = 1): PolicyEvent {
  return { type: "done", device, rows: [], nonZeros: 1, seconds, loss: 1 };
}

export function applied(device: DeviceId): PolicyEvent {
  return { type: "applied", device };
}

export function blended(id: number): PolicyEvent {
  return { type: "blended", id };
}

export function evaluated(id: number): PolicyEvent {
  return { type: "evaluated", id };
}

export function joined(id: DeviceId, maxBatchRows = 64): PolicyEvent {
  return { type: "joined", device: { id, maxBatchRows } };
}

export const finish: PolicyEvent = { type: "finish", reason: "signal" };

/** The commands, without reports. */
export function acts(commands: readonly Command[]): readonly Command[] {
  return commands.filter(({ type }) => type !== "report");
}

/** Commands in few words. */
export const told = {
  pull: (device: DeviceId): Command => ({ type: "pull", device }),
  push: (device: DeviceId, model: ModelName): Command => ({
    type: "push",
    device,
    model,
    norm: false,
  }),
  step: (device: DeviceId, start: number, count: number, learningRate: number): Command => ({
    type: "step",
    device,
    rows: [{ epoch: 0, start, count }],
    learningRate,
    model: `replica:${device}`,
  }),
  accumulate: (
    device: DeviceId,
    start: number,
    count: number,
    into: 0 | 1 = 0,
    reset = true,
  ): Command => ({
    type: "accumulate",
    device,
    rows: [{ epoch: 0, start, count }],
    model: `replica:${device}`,
    into: `gradient:${device}:${into}`,
    reset,
  }),
  apply: (device: DeviceId, scale: number): Command => ({
    type: "apply",
    device,
    source: `gradient:${device}:0`,
    target: "global",
    scale,
  }),
  /** A step on the shared model. */
  share: (
    device: DeviceId,
    start: number,
    count: number,
    learningRate: number,
    microBatchRows: number,
  ): Command => ({
    type: "step",
    device,
    rows: [{ epoch: 0, start, count }],
    learningRate,
    model: "global",
    microBatchRows,
  }),
  blend: (
    id: number,
    target: ModelName,
    terms: Readonly<Partial<Record<ModelName, number>>>,
    stateTerms: Readonly<Partial<Record<ModelName, number>>> = terms,
  ): Command => ({
    type: "blend",
    id,
    target,
    terms: termsOf(terms),
    stateTerms: termsOf(stateTerms),
  }),
  rotate: (...names: readonly ModelName[]): Command => ({ type: "rotate", names }),
  evaluate: (id: number): Command => ({ type: "evaluate", id }),
  stop: (reason: StopReason, ...others: readonly ModelName[]): Command => ({
    type: "stop",
    reason,
    models: ["global", ...others],
  }),
  checkpoint: (...others: readonly ModelName[]): Command => ({
    type: "checkpoint",
    models: ["global", ...others],
  }),
};

function termsOf(terms: Readonly<Partial<Record<ModelName, number>>>): readonly Term[] {
  return Object.entries(terms).map(([model, coefficient]) => ({
    model: model as ModelName,
    coefficient: closeTo(coefficient ?? 0),
  }));
}

/** Equal but for rounding. */
function closeTo(value: number): number {
  return expect.closeTo(value, 12) as number;
}

export function pushed(device: DeviceId, norm: number | null = null): PolicyEvent {
  return { type: "pushed", device, norm };
}

export function lost(device: DeviceId): PolicyEvent {
  return { type: "lost", device, reason: "test" };
}

export const ascending = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);
export const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

/** Rows that can still be taken, `epoch * N + position`. */
export function rowsInQueue({ queue }: { readonly queue: RowQueue }): readonly number[] {
  const left: number[] = [];
  for (let current = queue; ;) {
    const [next, ranges] = takeRows(current, 1);
    const [first] = ranges;
    if (first === undefined) return left;
    left.push(first.epoch * queue.rows + first.start);
    current = next;
  }
}
