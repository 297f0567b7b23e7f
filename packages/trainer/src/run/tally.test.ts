import type { RoundReportDevice } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { createTally } from "./tally.js";

const device = (id: number, changes: Partial<RoundReportDevice>): RoundReportDevice => ({
  device: id,
  updates: 1,
  share: 0.5,
  rows: 10,
  batchRows: 10,
  nextBatchRows: 20,
  learningRate: 0.1,
  weight: null,
  staleness: null,
  seconds: 1,
  ...changes,
});

const round = (number: number, devices: readonly RoundReportDevice[]) =>
  ({ type: "round", round: number, epoch: 0, rows: 10, devices }) as const;

test("updates are those that the algorithm reports, and staleness is their mean", () => {
  const tally = createTally([
    { name: "a", kernels: "plain" },
    { name: "b", kernels: "plain" },
  ]);
  const rows = [{ epoch: 0, start: 0, count: 10 }];
  tally.event({ type: "done", device: 0, rows, nonZeros: 1, seconds: 2, loss: 1 });
  tally.report(round(1, [device(0, { updates: 3, staleness: 1 }), device(1, { updates: 7 })]));
  tally.report(round(2, [device(0, { updates: 1, staleness: 5 }), device(1, { weight: 0.25 })]));
  tally.report({ type: "epoch", epoch: 0 });
  tally.event({ type: "lost", device: 1, reason: "gone" });
  const [first, second] = tally.summary([null, null]);
  expect(first).toMatchObject({ rows: 10, updates: 4, staleness: 2, rowsPerSecond: 5 });
  expect(second).toMatchObject({ updates: 8, staleness: null, batchRows: 20, lost: "gone" });
  expect(second).toMatchObject({ weight: 0.25, leastWeight: 0.25, rowsPerSecond: 0 });
  expect(tally.merges()).toBe(2);
});
