import { expect, test } from "vitest";
import type { SetResult } from "../step/step-report.js";
import type { BenchDevice } from "./devices.js";
import type { KernelTimes } from "./kernel-times.js";
import {
  describeConformance,
  describeKernelTimes,
  describeMixed,
  describeSoak,
  describeSteps,
  summariseOperation,
} from "./report.js";
import { summariseSteps } from "./steps.js";

const device: BenchDevice = {
  technology: "cuda",
  index: 0,
  name: "Some GPU",
  kind: "gpu",
  memory: 2 ** 34,
  spec: "cuda:0",
  label: "cuda:0",
  environment: {},
  driver: "hardware",
  peaks: { gigaflops: 10_000, gigabytes: 500 },
};
const emulated: BenchDevice = { ...device, name: "Stand-in 0", driver: "emulated", peaks: null };

const operation = {
  name: "output layer",
  flops: 10e9,
  bytes: 1e9,
  isTransfer: false,
  device: [5, 4, 6],
  plain: [50, 48, 48],
  native: [5, 2, 12],
};

test("an operation's rates are of its median, its share of the peak that is nearer, its ratios by round", () => {
  const of = summariseOperation(operation, device.peaks);
  expect(of.milliseconds.median).toBe(5);
  // 10 GFLOP and 1 GB in 5 ms.
  expect(of.gigaflops).toBeCloseTo(2000);
  expect(of.gigabytes).toBeCloseTo(200);
  expect(of.nearerPeak).toBe("GB/s");
  expect(of.peakShare).toBeCloseTo(0.4);
  expect(of.timesPlain).toBeCloseTo(10);
  expect(of.timesNative).toBeCloseTo(1);
  const products = summariseOperation({ ...operation, flops: 40e9 }, device.peaks);
  expect([products.nearerPeak, products.peakShare]).toEqual(["FLOP/s", 0.8]);
});

test("without known peaks, and for what goes over the link, there is no share", () => {
  expect(summariseOperation(operation, null)).toMatchObject({ peakShare: null, nearerPeak: null });
  const transfer = summariseOperation({ ...operation, isTransfer: true }, device.peaks);
  expect(transfer.peakShare).toBeNull();
  const half = summariseOperation(operation, { gigaflops: null, gigabytes: 400 });
  expect([half.nearerPeak, half.peakShare]).toEqual(["GB/s", 0.5]);
});

const times: KernelTimes = {
  labels: 4000,
  title: "4,000 labels",
  agreesWith: ["plain"],
  operations: [{ ...operation, native: null }],
  leftOut: null,
};

test("the table of kernels says what ran and what it agrees with", () => {
  const text = describeKernelTimes(emulated, times);
  expect(text).toMatch(
    /^kernels of cuda:0 \(Stand-in 0, emulated\): 4,000 labels; agrees with plain\n/u,
  );
  expect(text).toMatch(
    /output layer +│ +5\.00 │ +4\.20–5\.80 │ +2,000 │ +200 │ +│ +48\.0 │ +10\.0/u,
  );
  const none = describeKernelTimes(emulated, { ...times, leftOut: "too slow", operations: [] });
  expect(none.split("\n")[1]).toBe("not measured: too slow");
  expect(describeKernelTimes(device, times)).toContain("40 % of GB/s");
});

const shape = { features: 9, labels: 1000, hidden: 100, rows: 50, nonZeros: 3, batches: 2 };
const result = (name: string, seconds: readonly number[]) => ({
  name,
  threads: 1,
  bf16: false,
  ours: !name.startsWith("torch"),
  runs: name,
  documented: null,
  memory: { baseline: 0, peak: 0 },
  steps: seconds.map((wall) => ({ wall, cpu: wall })),
});
const set: SetResult = {
  name: "1000 labels",
  shape,
  results: [
    result("cuda:0", [0.002, 0.001, 0.004]),
    result("torch", [0.004, 0.002, 0.002]),
    result("native", [0.02, 0.03, 0.04]),
  ],
  missing: [{ name: "torch-bf16", reason: "no" }],
  peaks: [],
};

test("a step's share of the peak counts the output layer's three products", () => {
  const of = summariseSteps(set.results[0]!, set, [device]);
  expect(of.milliseconds.median).toBeCloseTo(2);
  expect(of.rowsPerSecond).toBeCloseTo(25_000);
  // 6 · 50 · 1000 · 100 operations in 2 ms.
  expect(of.gigaflops).toBeCloseTo(15);
  expect(of.peakShare).toBeCloseTo(0.0015);
  expect(of.timesTorch).toBeCloseTo(2);
  expect(of.timesNative).toBeCloseTo(10);
  expect(summariseSteps(set.results[1]!, set, [device])).toMatchObject({
    peakShare: null,
    timesTorch: null,
  });
  const text = describeSteps(set, [device]);
  expect(text).toContain("cuda:0 (Some GPU)");
  expect(text).toContain("not measured: torch-bf16: no");
});

test("the other parts are told in lines that say how it went", () => {
  const conformance = { cases: 3, failures: [{ name: "a", message: "b" }], seconds: 2 };
  expect(describeConformance(emulated, conformance)).toBe(
    "conformance of cuda:0 (Stand-in 0, emulated): 2 of 3 cases pass, 2.0 s\n  fails: a: b",
  );
  const trend = { first: 2 ** 20, last: 2 ** 21, slope: 1, error: 1, verdict: "growing" } as const;
  const soak = describeSoak(device, {
    device,
    steps: 2000,
    sizes: { features: 1, hidden: 2, labels: 3, rows: 4 },
    seconds: 9,
    losses: [2, 1],
    resident: trend,
    taken: null,
    work: [2 ** 20, 2 ** 20],
    leftBehind: null,
  });
  expect(soak).toContain(
    "resident memory 1.0 MiB in the first third, 2.0 MiB in the last: growing",
  );
  expect(soak).toContain("is not told by its driver");
  const mixed = describeMixed({
    algorithm: "adaptive-sgd",
    set: "delicious",
    command: "heterosgd train",
    alone: 0.65,
    mixed: 0.66,
    seconds: 9,
    weighed: 8,
    complete: 7,
    devices: [
      { name: "device 0", kernels: "cuda", updates: 5, rows: 6, lost: null, leastWeight: 0.5 },
    ],
  });
  expect(mixed).toContain(
    "P@1 0.6600, by processors alone 0.6500; every device has a part in 7 of 8",
  );
});
