/**
 * The algorithms without a barrier, computed a second time from what was recorded: which rows, when
 * their parameters were read, and when their work arrived.
 */
import { describe, expect, it } from "vitest";
import { absSgd, adaptiveHogbatch, asyncSgd, hogbatch, hogwild, ssp } from "../src/index.js";
import type { DeviceId, Policy, RowRange, StepCommand } from "../src/index.js";
import { runFake } from "./fake-executor.js";
import type { FakeDevice, FakeRun } from "./fake-run.js";
import { checked, commandsOf, roundReports } from "./support.js";
import { descend, gradient, initial, plus } from "./toy-model.js";

type Vector = readonly number[];

const tiny = 1e-11;

const rows = 70;
const schedule = { kind: "inverse", rate: 0.2, decay: 0.5 } as const;
const run = { epochs: 3, schedule } as const;
const rateOf = (ranges: readonly RowRange[]) => {
  const { epoch, start } = ranges[0] as RowRange;
  return 0.2 / (1 + 0.5 * (epoch + start / rows));
};
const count = (ranges: readonly RowRange[]) => ranges.reduce((sum, range) => sum + range.count, 0);

const hosts: readonly FakeDevice[] = [1, 0.4, 0.7].map((speed, id) => ({
  id,
  speed,
  maxBatchRows: 64,
}));
const mixed: readonly FakeDevice[] = [
  { id: 0, speed: 1, maxBatchRows: 64, threads: 2 },
  { id: 1, speed: 5, maxBatchRows: 64, role: "accelerator" },
  { id: 2, speed: 0.6, maxBatchRows: 64 },
];

function runOn<State>(policy: Policy<State>, devices: readonly FakeDevice[]): FakeRun<State> {
  const result = runFake(checked(policy), { devices, rows, parameters: 2 });
  expect(result.reason).toBe("epochs");
  expect(result.trained.length).toBe(rows * run.epochs);
  return result;
}

function distance(actual: Vector | undefined, expected: Vector): number {
  return Math.max(...expected.map((value, k) => Math.abs(value - (actual?.[k] ?? Number.NaN))));
}

/**
 * Goes through the events: gradients are of the parameters at the last pull and are added, divided
 * by `meanOver`, when they are applied; steps start from the model as it was when the device began.
 * Answers how far the run ever was from that.
 */
function recompute<State>(result: FakeRun<State>, meanOver: (count: number) => number): number {
  const copies = new Map<DeviceId, Vector>();
  const gradients = new Map<
    DeviceId,
    { readonly sum: Vector; readonly rows: readonly RowRange[] }
  >();
  const begun = new Map<DeviceId, Vector>();
  const queued = new Map<DeviceId, StepCommand[]>();
  const blends = new Map<number, DeviceId>();
  let w = initial.w;
  let furthest = 0;
  for (const [i, issued] of result.commands.entries()) {
    const event = result.events[i - 1];
    switch (event?.type) {
      case "done": {
        const { device, rows: trained } = event;
        const step = queued.get(device)?.shift();
        if (step === undefined) {
          const sum = gradient(trained, copies.get(device) as Vector);
          gradients.set(device, { sum, rows: trained });
        } else if (step.model === "global") {
          const from = begun.get(device) as Vector;
          const to = descend(trained, from, rateOf(trained), step.microBatchRows);
          w = plus(w, [1, to], [-1, from]);
          begun.set(device, w);
        } else {
          copies.set(device, descend(trained, copies.get(device) as Vector, rateOf(trained)));
        }
        break;
      }
      case "applied": {
        const { sum, rows: trained } = gradients.get(event.device) ?? { sum: [], rows: [] };
        w = plus(w, [-rateOf(trained) / meanOver(count(trained)), sum]);
        break;
      }
      case "blended":
        w = copies.get(blends.get(event.id) as DeviceId) as Vector;
        // The one host did its slice of the blend last, and what it does now it began after that.
        for (const device of queued.keys()) begun.set(device, w);
        break;
      default:
    }
    for (const command of issued) {
      if (command.type === "pull") copies.set(command.device, w);
      if (command.type === "step") {
        const list = queued.get(command.device) ?? [];
        if (list.length === 0) begun.set(command.device, w);
        queued.set(command.device, [...list, command]);
      }
      if (command.type === "blend") {
        const [term] = command.terms;
        blends.set(command.id, Number(term?.model.split(":")[1]));
      }
    }
    furthest = Math.max(furthest, distance(result.trajectory[i], w));
  }
  return furthest;
}

describe("the shared model, event by event, is what the formulas say, for", () => {
  it("async, at whatever staleness", () => {
    const result = runOn(asyncSgd({ ...run, batch: 4 }), hosts);
    expect(recompute(result, () => 4)).toBeLessThan(tiny);
    const staleness = roundReports(result.reports).flatMap((round) =>
      round.devices.map((device) => device.staleness ?? 0),
    );
    expect(Math.max(...staleness)).toBeGreaterThan(1.5);
  });

  it("SSP", () => {
    expect(recompute(runOn(ssp({ ...run, batch: 4, staleness: 1 }), hosts), () => 4)).toBeLessThan(
      tiny,
    );
  });

  it("Hogwild, one row a step", () => {
    const result = runOn(hogwild({ ...run, messageRows: 6 }), hosts);
    expect(commandsOf(result.commands, "step").every((step) => step.microBatchRows === 1)).toBe(
      true,
    );
    expect(recompute(result, () => Number.NaN)).toBeLessThan(tiny);
  });

  it.each(["add", "overwrite"] as const)("Hogbatch, whose accelerator's update is to %s", (how) => {
    const policy = hogbatch({ ...run, acceleratorBatch: 20, messageRows: 6, accelerate: how });
    const devices = mixed.slice(0, 2);
    const result = runFake(checked(policy), { devices, rows, parameters: 2 });
    expect(recompute(result, (own) => own)).toBeLessThan(tiny);
    // Overwriting undoes what hosts did meanwhile.
    expect(result.trained.length < rows * run.epochs).toBe(how === "overwrite");
  });

  it("Adaptive Hogbatch, at moving sizes", () => {
    const sizes = { hostMax: 8, acceleratorMin: 2, acceleratorMax: 4, messageRows: 8 };
    const result = runOn(adaptiveHogbatch({ ...run, ...sizes }), mixed);
    expect(recompute(result, (own) => own)).toBeLessThan(tiny);
  });
});

describe("ABS-SGD", () => {
  /** Rows of each accumulator since it was reset, as of each blend. */
  function reduced<State>(result: FakeRun<State>) {
    const filled = new Map<string, RowRange[]>();
    return result.commands.flat().flatMap((command) => {
      if (command.type === "accumulate") {
        const before = command.reset === true ? [] : (filled.get(command.into) ?? []);
        filled.set(command.into, [...before, ...command.rows]);
      }
      if (command.type !== "blend") return [];
      return [command.terms.flatMap(({ model }) => filled.get(model) ?? [])];
    });
  }

  const models = <State>(result: FakeRun<State>) => [
    initial.w,
    ...result.trajectory.filter((_, i) =>
      result.commands[i]?.some(({ type }) => type === "rotate"),
    ),
  ];

  it.each([
    { momentum: 0, learningRateRule: "fixed" },
    { momentum: 0.6, learningRateRule: "fixed" },
    { momentum: 0.6, learningRateRule: "linear" },
  ] as const)("takes steps along gradients that are one update old, with %o", (options) => {
    const result = runOn(absSgd({ ...run, microBatch: 3, ...options }), hosts);
    const w = models(result);
    const sums = reduced(result);
    expect(w.length).toBe(sums.length + 1);
    expect(sums.length).toBeGreaterThan(8);
    let velocity: Vector = [0, 0];
    let trained = 0;
    for (const [t, frozen] of sums.entries()) {
      const total = count(frozen);
      const base = 0.2 / (1 + (0.5 * trained) / rows);
      const rate = options.learningRateRule === "linear" ? (base * total) / 9 : base;
      const stale = w[Math.max(0, t - 1)] as Vector;
      velocity = plus([0, 0], [options.momentum, velocity], [1 / total, gradient(frozen, stale)]);
      const next = plus(w[t] as Vector, [-rate, velocity]);
      expect(distance(w[t + 1], next), `update ${t + 1}`).toBeLessThan(tiny);
      trained += total;
    }
  });

  it("says so, has fast devices count for more, and none for nothing", () => {
    const result = runOn(absSgd({ ...run, microBatch: 2 }), [
      { id: 0, speed: 4, maxBatchRows: 9 },
      { id: 1, speed: 1, maxBatchRows: 9 },
    ]);
    const rounds = roundReports(result.reports);
    const staleness = rounds.map((round) => round.devices.map((device) => device.staleness));
    expect(staleness[0]).toEqual([0, 0]);
    for (const pair of staleness.slice(1, -1)) expect(pair).toEqual([1, 1]);
    const middle = rounds.slice(1, -2);
    for (const { devices } of middle) {
      expect(devices.every(({ updates }) => updates >= 1)).toBe(true);
      expect(devices.reduce((sum, { weight }) => sum + (weight ?? 0), 0)).toBeCloseTo(1, 12);
    }
    const total = (id: number) =>
      middle.reduce((sum, { devices }) => sum + (devices[id]?.rows ?? 0), 0);
    expect(total(0) / total(1)).toBeGreaterThan(2);
  });

  it("goes on computing while it reduces", () => {
    const result = runOn(absSgd({ ...run, microBatch: 2, evaluateEvery: "never" }), hosts);
    // Between a blend and its answer, other answers come, and work is handed out.
    const asked = result.commands.findIndex((issued) =>
      issued.some(({ type }) => type === "blend"),
    );
    const answered = result.events.findIndex(({ type }) => type === "blended") + 1;
    const between = result.commands.slice(asked + 1, answered).flat();
    expect(commandsOf([between], "accumulate").length).toBeGreaterThan(0);
  });
});
