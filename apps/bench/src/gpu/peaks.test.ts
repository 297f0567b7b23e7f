import { expect, test } from "vitest";
import type { CudaDriver } from "./cuda-driver.js";
import { gpuAttributes, peaksOf } from "./peaks.js";

/** As NVIDIA's driver tells of an H100 PCIe: 114 multiprocessors, 1755 MHz, HBM2e of 1593 MHz and 5120 bits. */
const h100 = {
  capability: 90,
  multiprocessors: 114,
  clock: 1_755_000,
  memoryClock: 1_593_000,
  busWidth: 5120,
};

test("peaks are what the maker's data sheet says", () => {
  const { gigaflops, gigabytes } = peaksOf(h100);
  // 51.2 TFLOP/s and 2.0 TB/s.
  expect(gigaflops! / 1000).toBeCloseTo(51.2, 1);
  expect(gigabytes! / 1000).toBeCloseTo(2.04, 2);
  // GeForce RTX 2080 Ti, founders edition: 13.4 TFLOP/s at 1545 MHz, 616 GB/s.
  const turing = { capability: 75, multiprocessors: 68, clock: 1_545_000 };
  const peaks = peaksOf({ ...turing, memoryClock: 7_000_000, busWidth: 352 });
  expect(peaks.gigaflops! / 1000).toBeCloseTo(13.45, 2);
  expect(peaks.gigabytes).toBeCloseTo(616, 0);
});

test("what the driver does not tell, or nobody knows of an unknown GPU, is null", () => {
  expect(peaksOf({ ...h100, clock: null }).gigaflops).toBeNull();
  expect(peaksOf({ ...h100, memoryClock: 0 })).toMatchObject({ gigabytes: null });
  expect(peaksOf({ ...h100, capability: 999 }).gigaflops).toBeNull();
});

test("attributes are of the devices that the kernels can use, in their order", () => {
  const capabilities = [61, 86, 90];
  const driver: CudaDriver = {
    deviceCount: () => capabilities.length,
    attribute(ordinal, which) {
      const capability = capabilities[ordinal]!;
      if (which === 75) return Math.floor(capability / 10);
      if (which === 76) return capability % 10;
      return which === 13 ? 1000 + ordinal : null;
    },
    takenBytes: () => null,
    standInUse: null,
  };
  expect(gpuAttributes(driver)).toEqual([
    { capability: 86, multiprocessors: null, clock: 1001, memoryClock: null, busWidth: null },
    { capability: 90, multiprocessors: null, clock: 1002, memoryClock: null, busWidth: null },
  ]);
});
