import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { controlOf, standIn } from "../../test/stand-in.js";
import { cudaSupport } from "./devices.js";
import { libraryVariable } from "./library.js";
import { neededCapability, neededDriver, ptxImage } from "./ptx.js";

afterEach(() => vi.unstubAllEnvs());

test("no driver is a reason with a remedy", () => {
  expect(cudaSupport({ library: "libthere-is-none.so" })).toEqual({
    available: false,
    reason: expect.stringMatching(/^libthere-is-none\.so can't be loaded: .*cannot open/u),
    remedy: "name another library in HETEROSGD_CUDA_LIBRARY",
  });
});

test("a library that is no driver is a reason too", () => {
  expect(cudaSupport({ library: "libc.so.6" })).toMatchObject({
    available: false,
    reason: expect.stringMatching(/^libc\.so\.6 can't be loaded: .*cuInit/u),
  });
});

test("what the kernels need is what their PTX says", () => {
  const text = new TextDecoder().decode(ptxImage());
  expect(ptxImage().at(-1)).toBe(0);
  expect(text).toMatch(new RegExp(`^\\.target sm_${neededCapability}$`, "mu"));
  // CUDA 10.2 came with PTX 6.5.
  expect({ ptx: /^\.version (.*)$/mu.exec(text)?.[1], neededDriver }).toEqual({
    ptx: "6.5",
    neededDriver: 10_020,
  });
});

test.skipIf(!standIn.ok)("there is a C++ compiler to build the stand-in with", () => {
  expect(standIn).toMatchObject({ ok: true });
});

describe.skipIf(!standIn.ok)("over the stand-in", () => {
  const library = standIn.ok ? standIn.path : "";
  const control = standIn.ok ? controlOf(library) : (undefined as never);
  beforeEach(() => control.reset());
  afterEach(() => control.reset());

  test("devices are told with their names and memory", () => {
    control.set("DEVICES", "2");
    control.set("MEMORY", String(80 * 2 ** 30));
    const device = { technology: "cuda", kind: "gpu", memory: 80 * 2 ** 30 };
    expect(cudaSupport({ library })).toEqual({
      available: true,
      devices: [
        { ...device, index: 0, name: "Stand-in 0" },
        { ...device, index: 1, name: "Stand-in 1" },
      ],
    });
  });

  test("the environment names the library", () => {
    vi.stubEnv(libraryVariable, library);
    expect(cudaSupport()).toMatchObject({ available: true });
  });

  test("no GPU is a reason", () => {
    control.set("DEVICES", "0");
    expect(cudaSupport({ library })).toEqual({
      available: false,
      reason: "CUDA's driver finds no GPU (CUDA_ERROR_NO_DEVICE)",
      remedy: expect.stringContaining("nvidia-smi"),
    });
  });

  test("a driver that is too old for the PTX is a reason", () => {
    control.set("DRIVER_VERSION", "10010");
    expect(cudaSupport({ library })).toEqual({
      available: false,
      reason: "the driver is CUDA 10.1's, the kernels need 10.2's or a newer one",
      remedy: "install a newer driver of NVIDIA's",
    });
    control.set("DRIVER_VERSION", String(neededDriver));
    expect(cudaSupport({ library })).toMatchObject({ available: true });
  });

  test("a GPU that is too old is a reason", () => {
    control.set("CAPABILITY", "61");
    expect(cudaSupport({ library })).toEqual({
      available: false,
      reason: "Stand-in 0 has compute capability 6.1; the kernels need 7.5 or newer",
      remedy: "use a GPU of compute capability 7.5 (Turing) or newer",
    });
  });

  test.each(["cuInit", "cuDeviceGetCount", "cuDeviceGetName", "cuDeviceTotalMem_v2"])(
    "%s that fails is a reason",
    (call) => {
      control.set("FAIL", `${call}@1=999`);
      expect(cudaSupport({ library })).toEqual({
        available: false,
        reason: `CUDA fails: ${call} returns CUDA_ERROR_UNKNOWN`,
        remedy: "install NVIDIA's driver for the graphics card",
      });
    },
  );
});
