import { expect } from "vitest";
import type {
  Command,
  CommandOf,
  DeviceId,
  MergeReport,
  MergeRule,
  Policy,
  PolicyEvent,
  PolicySetup,
  Report,
  RoundReport,
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
export function done(device: DeviceId): PolicyEvent {
  return { type: "done", device, rows: [], nonZeros: 1, seconds: 1, loss: 1 };
}

export function pushed(device: DeviceId, norm: number | null = null): PolicyEvent {
  return { type: "pushed", device, norm };
}

export function lost(device: DeviceId): PolicyEvent {
  return { type: "lost", device, reason: "test" };
}
