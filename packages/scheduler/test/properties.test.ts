import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countRows } from "../src/index.js";
import type { Run } from "../src/index.js";
import { cases } from "./cases.js";
import type { FakeRun } from "./fake-run.js";
import { runScenario, scenarios, withHosts } from "./scenarios.js";
import type { Scenario } from "./scenarios.js";
import { ascending, commandsOf, roundReports, rowsInQueue, upTo } from "./support.js";

describe.each(cases)("whatever the speeds, losses and joins, $name", (tried) => {
  const size = fc.integer({ min: 1, max: 12 });

  function holds(
    check: (result: FakeRun<Run>, scenario: Scenario) => void,
    { numRuns = 40, incidents = true } = {},
  ): void {
    const property = fc.property(scenarios(incidents), size, (drawn, chosen) => {
      const scenario = tried.hostsOnly === true ? withHosts(drawn) : drawn;
      check(runScenario(tried.create(scenario.run, chosen), scenario), scenario);
    });
    fc.assert(property, { seed: 2026, numRuns });
  }

  it("has every row either trained, once, or still in the queue", () => {
    holds(
      ({ state, trained, reports }, { rows, run: { epochs } }) => {
        const left = rowsInQueue(state);
        const reported = roundReports(reports).reduce((sum, round) => sum + round.rows, 0);
        expect(reported + left.length).toBe(rows * epochs);
        expect(new Set(trained).size).toBe(trained.length);
        const all = tried.exact ? ascending([...trained, ...left]) : upTo(rows * epochs);
        expect(all).toEqual(upTo(rows * epochs));
      },
      { numRuns: 100 },
    );
  });

  it("trains every row of every epoch if it stops because of the epochs", () => {
    let runs = 0;
    holds(({ reason, reports, state, trained }, { rows, run: { epochs } }) => {
      if (reason !== "epochs") return;
      runs++;
      expect(tried.exact ? ascending(trained) : upTo(rows * epochs)).toEqual(upTo(rows * epochs));
      const ended = reports.flatMap((report) => (report.type === "epoch" ? [report.epoch] : []));
      expect(ended).toEqual(upTo(epochs));
      expect(state.epochsDone).toBe(epochs);
    });
    expect(runs).toBeGreaterThan(5);
  });

  it("makes exactly as many updates as asked for if it stops because of them", () => {
    let runs = 0;
    holds(({ reason, reports, state }, { run: { maxSteps = Infinity } }) => {
      const devices = roundReports(reports).flatMap((round) => round.devices);
      expect(devices.reduce((sum, { updates }) => sum + updates, 0)).toBe(state.steps);
      expect(state.steps).toBeLessThanOrEqual(maxSteps);
      if (reason !== "steps") return;
      runs++;
      expect(state.steps).toBe(maxSteps);
    });
    expect(runs).toBeGreaterThan(3);
  });

  it("evaluates the final model, once, unless no device is left for it", () => {
    holds(({ reason, state, commands, trajectory }) => {
      if (reason === "devices") return;
      const ids = commandsOf(commands, "evaluate").map(({ id }) => id);
      expect(ids.at(-1)).toBe(state.rounds);
      expect(new Set(ids).size).toBe(ids.length);
      const evaluated = commands.findLastIndex((issued) =>
        issued.some(({ type }) => type === "evaluate"),
      );
      expect(trajectory.at(-1)).toEqual(trajectory[evaluated]);
    });
  });

  it("keeps to the size of batches that it says", () => {
    holds(({ commands, deepest }, { run }) => {
      const most = tried.create(run, 12).maxBatchRows;
      for (const { rows } of [
        ...commandsOf(commands, "step"),
        ...commandsOf(commands, "accumulate"),
      ]) {
        expect(countRows(rows)).toBeLessThanOrEqual(most);
      }
      expect(deepest).toBeLessThanOrEqual(2);
    });
  });

  it("gives equal devices equally much, and has shares and weights add up", () => {
    holds(
      ({ reports }, scenario) => {
        for (const round of roundReports(reports)) {
          expect(round.devices.reduce((sum, device) => sum + device.rows, 0)).toBe(round.rows);
          const shares = round.devices.reduce((sum, { share }) => sum + share, 0);
          expect(shares).toBeCloseTo(round.rows > 0 ? 1 : 0, 12);
        }
        const [first] = scenario.devices;
        const equal = scenario.devices.map(
          (device) => ({ ...first, id: device.id }) as typeof device,
        );
        const { reports: even } = runScenario(
          tried.create({ ...scenario.run, evaluateEvery: "epoch" }, 4),
          {
            ...scenario,
            devices: equal,
          },
        );
        const totals = equal.map(({ id }) =>
          roundReports(even)
            .flatMap(({ devices }) => devices)
            .filter(({ device }) => device === id)
            .reduce((sum, { rows }) => sum + rows, 0),
        );
        // They differ by a batch at the end of an epoch, and one that the last step leaves over.
        const largest = Math.max(12, 3 * 4) * (scenario.run.epochs + 1);
        expect(Math.max(...totals) - Math.min(...totals)).toBeLessThanOrEqual(largest);
      },
      { incidents: false },
    );
  });
});
