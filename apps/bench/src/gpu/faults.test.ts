import { expect, test } from "vitest";
import type { BenchDevice } from "./devices.js";
import { soakFaults } from "./gpu.js";
import { mixedDevices, mixedFaults, type MixedResult } from "./mixed.js";
import type { SoakResult } from "./soak.js";

const flat = { first: 1, last: 1, slope: 0, error: 0, verdict: "flat" } as const;
const growing = { ...flat, verdict: "growing" } as const;
const soak: SoakResult = {
  device: { technology: "cuda", index: 0 },
  steps: 2000,
  sizes: { features: 1, hidden: 1, labels: 1, rows: 1 },
  seconds: 1,
  losses: [2, 1],
  resident: flat,
  taken: flat,
  work: [10, 10],
  leftBehind: 0,
};

test("a soak has no fault while all is flat and the loss falls", () => {
  expect(soakFaults(soak)).toEqual([]);
  expect(soakFaults({ ...soak, taken: null, leftBehind: null })).toEqual([]);
  expect(soakFaults({ ...soak, resident: { ...flat, verdict: "not clear" } })).toEqual([]);
});

test("each thing that grows or stays behind is a fault", () => {
  const faults = [
    { resident: growing },
    { taken: growing },
    { work: [10, 11] as const },
    { losses: [1, 1] as const },
    { losses: [1, Number.NaN] as const },
    { leftBehind: 4 },
  ];
  for (const fault of faults) expect(soakFaults({ ...soak, ...fault })).toHaveLength(1);
});

const device = (name: string, updates = 3, lost: string | null = null) => ({
  name,
  kernels: "x",
  updates,
  rows: 30,
  lost,
  leastWeight: 0.2,
});
const mixed: MixedResult = {
  algorithm: "adaptive-sgd",
  set: "delicious",
  command: "",
  alone: 0.65,
  mixed: 0.641,
  seconds: 1,
  weighed: 20,
  complete: 20,
  devices: [device("cpu"), device("cuda")],
};

test("a mixed run may be a hundredth below the processors' P@1, and no more", () => {
  expect(mixedFaults(mixed)).toEqual([]);
  expect(mixedFaults({ ...mixed, mixed: 0.9 })).toEqual([]);
  expect(mixedFaults({ ...mixed, mixed: 0.639 })).toEqual([
    "adaptive-sgd: P@1 0.6390 is below the processors' 0.6500",
  ]);
  expect(mixedFaults({ ...mixed, mixed: Number.NaN })).toHaveLength(1);
});

test("every device has to have a part in every merge, and none may be lost or idle", () => {
  expect(mixedFaults({ ...mixed, complete: 19 })).toEqual([
    "adaptive-sgd: 1 of 20 merges or rounds lack a device",
  ]);
  expect(mixedFaults({ ...mixed, weighed: 0, complete: 0 })).toHaveLength(1);
  expect(mixedFaults({ ...mixed, algorithm: "hogbatch", weighed: 0, complete: 0 })).toEqual([]);
  expect(mixedFaults({ ...mixed, devices: [device("cpu", 0)] })).toEqual([
    "adaptive-sgd: cpu made no update",
  ]);
  expect(mixedFaults({ ...mixed, devices: [device("cuda", 5, "gone")] })).toEqual([
    "adaptive-sgd: cuda was lost: gone",
  ]);
});

test("the processor is held back beside software, and not beside hardware", () => {
  const one = (spec: string, driver: BenchDevice["driver"]) => ({ spec, driver }) as BenchDevice;
  const software = [one("opencl:0", "software driver"), one("cuda:0", "emulated")];
  expect(mixedDevices(software)).toBe("cpu@0.03,opencl:0@0.3,cuda:0");
  expect(mixedDevices([one("cuda:0", "hardware")])).toBe("cpu,cuda:0");
});
