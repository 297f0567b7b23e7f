/** Random runs with checkpoints, and how each goes on from one of them. */
import fc from "fast-check";
import type { RowQueue } from "../src/index.js";
import type { Case } from "./cases.js";
import { runFake } from "./fake-executor.js";
import type { FakeRun, Resumption, Saved } from "./fake-run.js";
import { runScenario, scenarios, withHosts } from "./scenarios.js";
import type { Scenario } from "./scenarios.js";

/** As much of a state as all have in common. */
export interface Queued {
  readonly queue: RowQueue;
}

/** A run, and one of its checkpoints, the end among them, as a file has it. */
export interface Try {
  readonly result: FakeRun<Queued>;
  readonly scenario: Scenario;
  readonly size: number;
  readonly saved: Saved<Queued>;
  /** Devices to go on with, and what becomes of them. */
  readonly other: Scenario;
}

const drawn = fc.tuple(scenarios(), fc.integer({ min: 1, max: 12 }), fc.nat(), scenarios());

/** The same ones each time; they are made once for all tests of an algorithm. */
export function tries(tried: Case<Queued>): () => readonly Try[] {
  const hosts = (scenario: Scenario) => (tried.hostsOnly === true ? withHosts(scenario) : scenario);
  let made: readonly Try[] | null = null;
  return () => {
    made ??= fc.sample(drawn, { seed: 2027, numRuns: 60 }).map(([some, size, pick, more]) => {
      const scenario = hosts(some);
      const result = runScenario(tried.create(scenario.run, size), scenario);
      const saved = result.saved[pick % result.saved.length] as Saved<Queued>;
      const state = JSON.parse(JSON.stringify(saved.state)) as Queued;
      return { result, scenario, size, saved: { ...saved, state }, other: hosts(more) };
    });
    return made;
  };
}

export function resume(
  tried: Case<Queued>,
  { rows, devices, incidents, run }: Scenario,
  size: number,
  resumption: Resumption<Queued>,
): FakeRun<Queued> {
  const setup = { rows, devices, parameters: 9 };
  return runFake(tried.create(run, size), setup, incidents, resumption);
}

/** Checkpoints that came after a `save`, and how many rounds later; null those that were not asked for. */
export function roundsUntilSaved({
  events,
  commands,
}: FakeRun<Queued>): readonly (number | null)[] {
  const found: (number | null)[] = [];
  let rounds: number | null = null;
  let isTaking = false;
  for (const [i, issued] of commands.entries()) {
    const event = events[i - 1]?.type;
    isTaking &&= event !== "checkpointed";
    // One that comes while a checkpoint is taken asks for no other.
    if (event === "save" && !isTaking) rounds ??= 0;
    for (const command of issued) {
      const isRound = command.type === "report" && command.report.type !== "epoch";
      if (isRound && rounds !== null) rounds++;
      if (command.type !== "checkpoint") continue;
      found.push(rounds);
      [rounds, isTaking] = [null, true];
    }
  }
  return found;
}
