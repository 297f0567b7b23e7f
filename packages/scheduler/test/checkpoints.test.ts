import { describe, expect, it } from "vitest";
import { everyCase } from "./cases.js";
import type { FakeRun, Saved } from "./fake-run.js";
import type { Scenario } from "./scenarios.js";
import { ascending, roundReports, rowsInQueue, upTo } from "./support.js";
import { resume, roundsUntilSaved, tries } from "./tried-checkpoints.js";
import type { Queued } from "./tried-checkpoints.js";

describe.each(everyCase)("a checkpoint of $name", (tried) => {
  const all = tries(tried);

  it("comes at the end of the round in which it is asked for", () => {
    const rounds = all().flatMap(({ result }) => roundsUntilSaved(result));
    const asked = rounds.filter((count) => count !== null);
    expect(asked.length).toBeGreaterThan(4);
    expect(Math.max(...asked)).toBeLessThanOrEqual(1);
  });

  it("comes otherwise only when it is due", () => {
    const never = all().filter(
      ({ scenario: { run } }) => (run.checkpointEvery ?? "never") === "never",
    );
    expect(never.length).toBeGreaterThan(5);
    expect(never.flatMap(({ result }) => roundsUntilSaved(result))).not.toContain(null);
    expect(all().flatMap(({ result }) => roundsUntilSaved(result))).toContain(null);
  });

  it("goes on as if nothing had happened, on the same devices", () => {
    let resumed = 0;
    for (const { result, scenario, size, saved } of all()) {
      const event = result.events[saved.events];
      if (event === undefined) continue;
      const policy = tried.create(scenario.run, size);
      const next = policy.next(saved.state, { type: "checkpointed" });
      expect(policy.resume(saved.state, null)).toEqual(next);
      // What comes while the copy is taken is not in the checkpoint.
      if (event.type !== "checkpointed") continue;
      const at = result.times[saved.events] ?? 0;
      const incidents = scenario.incidents.filter((incident) => incident.at > at);
      const again = resume(tried, { ...scenario, incidents }, size, { saved, at });
      expect(again.commands).toEqual(result.commands.slice(saved.events + 1));
      expect(again.trajectory).toEqual(result.trajectory.slice(saved.events + 1));
      expect(again.state).toEqual(result.state);
      resumed++;
    }
    expect(resumed).toBeGreaterThan(5);
  });

  it("has every row trained once that the model has not seen, on other devices", () => {
    for (const { scenario, size, saved, other } of all()) {
      const { devices, incidents } = other;
      const again = resume(tried, { ...scenario, incidents }, size, { saved, at: 0, devices });
      expect(rowsOf([again], scenario, saved)).toEqual(everyRow(scenario));
    }
  });

  it("goes on from the end of a run, if there is more to do", () => {
    for (const { result, scenario: before, size } of all()) {
      const run = { ...before.run, epochs: before.run.epochs + 1, maxSteps: Infinity };
      const scenario = { ...before, run, incidents: [] };
      const saved = result.saved.at(-1) as Saved<Queued>;
      const others = saved.devices.length > 0 ? {} : { devices: scenario.devices };
      const again = resume(tried, scenario, size, { saved, at: 0, ...others });
      expect(again.reason).toBe("epochs");
      expect(rowsOf([again], scenario, saved, before.run.epochs)).toEqual(everyRow(scenario));
    }
  });

  it("stops again at once if there is not", () => {
    const over = all().filter(
      ({ result: { reason } }) => reason === "epochs" || reason === "steps",
    );
    expect(over.length).toBeGreaterThan(5);
    for (const { result, scenario, size } of over) {
      const saved = result.saved.at(-1) as Saved<Queued>;
      const again = resume(tried, { ...scenario, incidents: [] }, size, { saved, at: 0 });
      expect(again.commands).toEqual([result.commands.at(-1)]);
    }
  });

  it("ends with fewer epochs than it was made for, and still knows what is left", () => {
    const longer = all().filter(
      ({ result, scenario: { run } }) => run.epochs > 1 && result.reason === "epochs",
    );
    expect(longer.length).toBeGreaterThan(3);
    for (const { scenario: before, size, saved } of longer) {
      const scenario = { ...before, incidents: [] };
      const run = { ...scenario.run, epochs: 1 };
      const { devices } = scenario;
      const first = resume(tried, { ...scenario, run }, size, { saved, at: 0, devices });
      expect(first.reason).toBe("epochs");
      const end = first.saved.at(-1) as Saved<Queued>;
      const second = resume(tried, scenario, size, { saved: end, at: 0 });
      expect(rowsOf([first, second], scenario, saved)).toEqual(everyRow(scenario));
    }
  });

  const everyRow = ({ rows, run }: Scenario) => upTo(rows * run.epochs);

  /**
   * Rows that runs, one after another from a checkpoint, have trained or left; a run that was for so
   * many `epochs` until then. Where the model can't tell, so many rows as were reported.
   */
  function rowsOf(
    runs: readonly FakeRun<Queued>[],
    { rows, run }: Scenario,
    saved: Saved<Queued>,
    epochs = run.epochs,
  ): readonly number[] {
    const { state, trained } = runs.at(-1) as FakeRun<Queued>;
    const left = rowsInQueue(state);
    if (tried.exact) return ascending([...trained, ...left]);
    const before = rows * epochs - rowsInQueue(saved.state).length;
    const reports = runs.flatMap((each) => roundReports(each.reports));
    return upTo(reports.reduce((sum, round) => sum + round.rows, before + left.length));
  }
});
