import { describe, expect, test } from "vitest";
import { done, evaluation, merge, shortRun, startEvent } from "../../test/made-up-run.js";
import { collectRun } from "./collect-run.js";

function seriesOf(events: readonly unknown[]) {
  const collector = collectRun("made-up");
  for (const event of events) collector.event(event);
  return collector.series();
}

const pairs = (samples: readonly { readonly at: number; readonly value: number }[]) =>
  samples.map(({ at, value }) => [at, value]);

describe("the series of a run", () => {
  test("are those of its events, from when training began", () => {
    const run = seriesOf(shortRun);
    expect(run).toMatchObject({
      name: "made-up",
      algorithm: "adaptive-sgd",
      seed: 7,
      simulated: null,
      network: "1,000 – 64 – 50, relu, softmax",
      trainRows: 1000,
      evaluationRows: 200,
      parameters: 67_250,
      // Saving comes after training.
      seconds: 2.25,
      rows: 450,
      rounds: 2,
      reason: "epochs",
      marks: [],
      usageSince: 0,
    });
    expect(run.evaluations).toEqual([
      { at: 1.25, rows: 300, cutoffs: [1, 3], precision: [0.25, 0.2], ndcg: [0.25, 0.2] },
      { at: 2.25, rows: 450, cutoffs: [1, 3], precision: [0.5, 0.4], ndcg: [0.5, 0.4] },
    ]);
  });

  test("tell of each device its batches, updates, weights and work", () => {
    const [fast, slow] = seriesOf(shortRun).devices;
    expect(pairs(fast!.batchRows)).toEqual([
      [0, 100],
      [1, 100],
      [2, 120],
    ]);
    expect(pairs(slow!.batchRows)).toEqual([
      [0, 100],
      [1, 50],
      [2, 50],
    ]);
    expect(pairs(fast!.roundUpdates)).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(pairs(slow!.weights)).toEqual([
      [1, 0.25],
      [2, 0.5],
    ]);
    expect(fast).toMatchObject({
      name: "fast",
      kernels: "native",
      rows: 300,
      updates: 3,
      lost: null,
    });
    expect(slow).toMatchObject({ rows: 150, updates: 2, busySeconds: 1.5, meanStaleness: null });
    expect(slow!.usage).toEqual({ training: 1.5, merging: 0.25, evaluating: 0.5, waiting: 0 });
  });

  test("tell when a device was busy", () => {
    const [fast] = seriesOf(shortRun).devices;
    const { width, shares } = fast!.busy;
    const shareAt = (at: number) => shares[Math.floor(at / width)] ?? 0;
    expect([0.1, 0.75, 1.1, 1.3, 1.7].map(shareAt)).toEqual([1, 1, 0, 1, 1]);
    const busy = shares.reduce((sum, share) => sum + share * width, 0);
    expect(busy).toBeCloseTo(1.5, 9);
  });

  test("have the mean loss of a row where it was trained on", () => {
    const { loss } = seriesOf([startEvent, done(11, 0, 100, 1, 300), done(11, 1, 300, 1, 500)]);
    // Both trained evenly on 400 rows in the same second.
    for (const { value } of loss) expect(value).toBeCloseTo(2, 9);
    expect(loss.at(-1)!.rows).toBeCloseTo(400, 9);
  });

  test("weigh staleness by updates", () => {
    const round = (at: number, updates: number, staleness: number | null) => ({
      at,
      type: "round",
      devices: [{ device: 0, updates, batchRows: 8, nextBatchRows: 8, weight: null, staleness }],
    });
    const [device] = seriesOf([
      startEvent,
      round(11, 3, 1),
      round(12, 1, 5),
      round(13, 9, null),
    ]).devices;
    expect(device).toMatchObject({ updates: 13, meanStaleness: 2, weights: [] });
    expect(pairs(device!.staleness)).toEqual([
      [1, 1],
      [2, 5],
    ]);
  });

  test("name a simulation’s profile, and let its devices join", () => {
    const run = seriesOf([
      {
        ...startEvent,
        at: 0,
        simulated: { profile: "failing", measured: false },
        devices: [
          { device: 0, name: "gpu", kernels: "wasm" },
          { device: 1, name: "late", kernels: "wasm", joins: 3 },
        ],
      },
      { at: 3, type: "joined", device: { id: 1, maxBatchRows: 9 } },
      done(4, 1, 10, 1, 5),
    ]);
    expect(run.simulated).toEqual({ profile: "failing", measured: false });
    expect(run.devices.map(({ name, from, rows }) => [name, from, rows])).toEqual([
      ["gpu", 0, 0],
      ["late", 3, 10],
    ]);
    expect(run.marks).toEqual([{ at: 3, kind: "joined", text: "late joined" }]);
  });

  test("say which device was lost, and end with it", () => {
    const run = seriesOf([
      startEvent,
      { at: 12, type: "lost", device: 1, reason: "it exited", retry: 1 },
      { at: 13, type: "joined", device: { id: 2 }, name: "slow again", kernels: "plain" },
      done(15, 2, 10, 1, 5),
    ]);
    expect(run.devices.map(({ name, from, to, lost }) => [name, from, to, lost])).toEqual([
      ["fast", 0, 5, null],
      ["slow", 0, 2, "it exited"],
      ["slow again", 3, 5, null],
    ]);
    expect(run.marks.map(({ text }) => text)).toEqual(["slow lost", "slow again joined"]);
  });

  test("go on where a run is resumed, on the same devices and on others", () => {
    const resume = {
      ...startEvent,
      type: "resume",
      at: 20,
      checkpoint: "step-5",
      rows: 450,
      merges: 2,
    };
    const others = [
      { device: 0, name: "fast", kernels: "native" },
      { device: 1, name: "new", kernels: "native" },
    ];
    const run = seriesOf([
      ...shortRun.slice(0, -1),
      { ...resume, devices: others },
      done(21, 1, 50, 1, 10),
    ]);
    expect(run).toMatchObject({ rows: 500, seconds: 11, usageSince: 10, reason: null });
    expect(run.devices.map(({ name, rows }) => [name, rows])).toEqual([
      ["fast", 300],
      ["slow", 150],
      ["new", 50],
    ]);
    expect(run.marks).toEqual([{ at: 10, kind: "resumed", text: "resumed from step-5" }]);
  });

  test("mark a loss that is not finite, and leave it out", () => {
    // JSON has no NaN.
    const run = seriesOf([startEvent, done(11, 0, 10, 1, 20), done(12, 0, 10, 1, null)]);
    expect(run.marks).toMatchObject([{ at: 2, kind: "diverged" }]);
    expect(run.loss.every(({ value }) => Math.abs(value - 2) < 1e-9)).toBe(true);
    expect(run.rows).toBe(20);
  });

  test("are of bounded size however long the run, with the extremes in them", () => {
    const collector = collectRun("long");
    collector.event(startEvent);
    for (let i = 1; i <= 30_000; i++) {
      const at = 10 + i;
      collector.event(done(at, i % 2, 10, 1, i === 7777 ? 1e6 : 10));
      const size = i === 12_345 ? 9999 : 100;
      collector.event(
        merge(at, [
          [100, size, 1, 0.5],
          [100, 100, 1, 0.5],
        ]),
      );
      collector.event(evaluation(at, 10 * i, [i === 20_001 ? 0.99 : 0.5]));
    }
    const run = collector.series();
    expect(JSON.stringify(run).length).toBeLessThan(1_000_000);
    expect(run.rows).toBe(300_000);
    expect(run.devices[0]!.updates).toBe(30_000);
    expect(Math.max(...run.devices[0]!.batchRows.map(({ value }) => value))).toBe(9999);
    expect(Math.max(...run.evaluations.map(({ precision }) => precision[0]!))).toBe(0.99);
    expect(Math.max(...run.loss.map(({ value }) => value))).toBeGreaterThan(100);
  });

  test("pass over what is no event", () => {
    const collector = collectRun("odd");
    for (const odd of [null, 3, "start", [], {}, { at: "1", type: "start" }, { at: 1 }]) {
      expect(collector.event(odd)).toBe(false);
    }
    expect(collector.event({ at: 1, type: "constructor" })).toBe(true);
    expect(collector.series()).toMatchObject({ rows: 0, devices: [], evaluations: [], seconds: 0 });
  });
});
