import type { RunEvent } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import { createProgress, type ProgressLimits } from "./progress.js";
import { overallLine, statusLines } from "./status.js";

const limits: ProgressLimits = {
  rows: 1000,
  epochs: 2,
  maxSteps: null,
  maxSeconds: null,
  evaluates: true,
  isSimulated: false,
};

const start = {
  at: 1,
  type: "start",
  devices: [
    { device: 0, name: "device 0 (cpu)", kernels: "plain" },
    { device: 1, name: "device 1 (cpu@0.5)", kernels: "plain" },
  ],
} as unknown as RunEvent;

const done = (
  at: number,
  device: number,
  count: number,
  seconds: number,
  loss: number,
): RunEvent => ({
  at,
  type: "done",
  device,
  rows: [{ epoch: 0, start: 0, count }],
  nonZeros: 1,
  seconds,
  loss: loss * count,
});

test("before the devices are there, it says so", () => {
  expect(overallLine(createProgress(limits).snapshot(0.5))).toBe("starting the devices");
});

test("adds up rows, shares, rates and losses", () => {
  const progress = createProgress(limits);
  progress.event(start);
  progress.event(done(2, 0, 300, 1, 4));
  progress.event(done(3, 1, 100, 2, 2));
  expect(progress.snapshot(3)).toMatchObject({
    epoch: 1,
    done: 0.2,
    rowsPerSecond: 200,
    loss: 3.5,
    secondsLeft: 8,
    devices: [
      { batchRows: 300, rowsPerSecond: 150, share: 0.75, busy: 0.5, lost: false },
      { batchRows: 100, rowsPerSecond: 50, share: 0.25, busy: 1, lost: false },
    ],
  });
});

test("where a message holds many batches, their size is what reports say it is", () => {
  const progress = createProgress(limits);
  progress.event({ ...start, algorithm: "hogwild" } as unknown as RunEvent);
  progress.event(done(2, 0, 256, 1, 4));
  expect(statusLines(progress.snapshot(2))[1]!.text).toMatch(/cpu\) +batch - /);
  const report = { at: 3, type: "round", devices: [{ device: 0, updates: 256, nextBatchRows: 1 }] };
  progress.event(report as unknown as RunEvent);
  progress.event(done(4, 0, 256, 1, 4));
  expect(statusLines(progress.snapshot(4))[1]!.text).toMatch(/cpu\) +batch 1 /);
});

test("rates forget what is more than ten seconds old", () => {
  const progress = createProgress({ ...limits, epochs: 100 });
  progress.event(start);
  for (let at = 2; at <= 40; at++) progress.event(done(at, 0, at <= 20 ? 1000 : 10, 0.1, 1));
  const { rowsPerSecond } = progress.snapshot(40);
  expect(rowsPerSecond).toBeGreaterThan(9);
  expect(rowsPerSecond).toBeLessThan(12);
});

test("the nearest of the limits decides how much is done", () => {
  const progress = createProgress({ ...limits, maxSteps: 4, maxSeconds: 100 });
  progress.event(start);
  progress.event(done(2, 0, 100, 1, 1));
  progress.event(done(3, 0, 100, 1, 1));
  expect(progress.snapshot(3).done).toBe(0.5);
  expect(progress.snapshot(80).done).toBe(0.8);
});

test("rows of a lost device's are marked, and the latest evaluation is shown", () => {
  const progress = createProgress(limits);
  progress.event(start);
  progress.event(done(2, 0, 100, 1, 1));
  progress.event({ at: 2, type: "lost", device: 1, reason: "gone" });
  progress.event({
    at: 3,
    type: "evaluation",
    rows: 100,
    metrics: {
      cutoffs: [1],
      rows: 5,
      rowsWithoutLabels: 0,
      precision: [0.25],
      ndcg: [0.25],
      recall: [0.1],
    },
  });
  const lines = statusLines(progress.snapshot(3)).map(({ text }) => text);
  expect(lines[0]).toBe("epoch 1/2   5 %   50 rows/s   loss 1.000   P@1 0.2500   38 s left");
  expect(lines[1]).toMatch(
    /^ {2}device 0 \(cpu\) +batch 100 +50 rows\/s +100 % of rows +50 % busy$/,
  );
  expect(lines[2]).toMatch(/^ {2}device 1 \(cpu@0\.5\) +lost$/);
});

test("a device that comes later has a row from then on", () => {
  const progress = createProgress(limits);
  progress.event(start);
  progress.event(done(2, 0, 100, 1, 1));
  progress.event({
    at: 3,
    type: "joined",
    device: { id: 2, maxBatchRows: 8 },
    name: "device 2 (cpu:2)",
  });
  expect(progress.snapshot(3).devices[2]).toMatchObject({ name: "device 2 (cpu:2)", share: 0 });
  progress.event(done(5, 2, 100, 2, 1));
  const { devices } = progress.snapshot(5);
  expect(devices[2]).toMatchObject({ rowsPerSecond: 25, share: 0.5, busy: 0.5, lost: false });
});

test("the epoch shown never passes the last one", () => {
  const progress = createProgress({ ...limits, epochs: 1 });
  progress.event(start);
  progress.event(done(2, 0, 1000, 1, 1));
  expect(progress.snapshot(2)).toMatchObject({ epoch: 1, done: 1 });
  expect(overallLine(progress.snapshot(2))).not.toContain("left");
});
