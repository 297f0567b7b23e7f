import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  absSgd,
  adaptiveHogbatch,
  asyncSgd,
  countRows,
  crossbow,
  easgd,
  elasticSgd,
  hogbatch,
  hogwild,
  lbBsp,
  localSgd,
  ssp,
  syncSgd,
  takeRows,
} from "../src/index.js";
import type { Policy, Run, RunOptions } from "../src/index.js";
import type { FakeRun } from "./fake-executor.js";
import { runScenario, scenarios } from "./scenarios.js";
import type { Scenario } from "./scenarios.js";
import { commandsOf, roundReports } from "./support.js";

interface Case {
  readonly name: string;
  create(run: RunOptions, size: number): Policy<Run>;
  /** Whether the final model holds every row that counts as trained. */
  readonly exact: boolean;
  readonly hostsOnly?: boolean;
}

const cases: readonly Case[] = [
  { name: "sync", exact: true, create: (run, batch) => syncSgd({ ...run, batch }) },
  { name: "lb-bsp", exact: true, create: (run, batch) => lbBsp({ ...run, batch }) },
  {
    name: "elastic",
    exact: true,
    create: (run, batch) => elasticSgd({ ...run, batch }),
  },
  {
    name: "local",
    exact: true,
    create: (run, batch) => localSgd({ ...run, batch, localSteps: 3 }),
  },
  {
    name: "easgd",
    exact: true,
    create: (run, batch) => easgd({ ...run, batch, mergeEvery: 2 }),
  },
  // A replica that restarts or is lost takes the gradient with it that z was to get next.
  { name: "crossbow", exact: false, create: (run, batch) => crossbow({ ...run, batch }) },
  {
    name: "abs-sgd",
    exact: true,
    create: (run, microBatch) => absSgd({ ...run, microBatch }),
  },
  {
    name: "abs-sgd with momentum",
    exact: true,
    create: (run, microBatch) =>
      absSgd({ ...run, microBatch, momentum: 0.5, learningRateRule: "linear" }),
  },
  { name: "async", exact: true, create: (run, batch) => asyncSgd({ ...run, batch }) },
  {
    name: "ssp",
    exact: true,
    create: (run, batch) => ssp({ ...run, batch, staleness: batch % 3, roundRows: 20 }),
  },
  {
    name: "hogwild",
    exact: true,
    hostsOnly: true,
    create: (run, messageRows) => hogwild({ ...run, messageRows }),
  },
  {
    name: "hogbatch",
    exact: true,
    create: (run, size) => hogbatch({ ...run, acceleratorBatch: 12, messageRows: size }),
  },
  {
    name: "hogbatch that overwrites",
    exact: false,
    create: (run, size) =>
      hogbatch({
        ...run,
        acceleratorBatch: 12,
        messageRows: size,
        accelerate: "overwrite",
        roundRows: 30,
      }),
  },
  {
    name: "adaptive-hogbatch",
    exact: true,
    create: (run, size) =>
      adaptiveHogbatch({
        ...run,
        hostMax: 4,
        acceleratorMin: 2,
        acceleratorMax: 16,
        messageRows: size,
      }),
  },
];

const ascending = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);
const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

/** Rows that can still be taken, `epoch * N + position`. */
function rowsInQueue({ queue }: Run): readonly number[] {
  const left: number[] = [];
  for (let current = queue; ;) {
    const [next, ranges] = takeRows(current, 1);
    const [first] = ranges;
    if (first === undefined) return left;
    left.push(first.epoch * queue.rows + first.start);
    current = next;
  }
}

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

function withHosts(scenario: Scenario): Scenario {
  return {
    ...scenario,
    devices: scenario.devices.map((device) => ({ ...device, role: "host" })),
    incidents: scenario.incidents.map((incident) =>
      incident.event.type === "joined"
        ? {
            ...incident,
            event: { type: "joined", device: { ...incident.event.device, role: "host" } },
          }
        : incident,
    ),
  };
}
