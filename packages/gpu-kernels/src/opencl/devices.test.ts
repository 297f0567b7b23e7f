import { describe, expect, it } from "vitest";
import { createGpuKernels } from "../gpu-kernels.js";
import { openclSupport } from "./devices.js";

const support = openclSupport();

describe("where there is no OpenCL", () => {
  const library = "libnothing.so.9";

  it("says why, and what would help", () => {
    expect(openclSupport({ library })).toEqual({
      available: false,
      reason: expect.stringMatching(/^libnothing\.so\.9 can't be loaded: .*cannot open/u),
      remedy: "name another library in HETEROSGD_OPENCL_LIBRARY",
    });
  });

  it("opens no device", () => {
    expect(() => createGpuKernels({ technology: "opencl", library })).toThrow(
      expect.objectContaining({
        name: "GpuKernelsError",
        code: "GPU_UNAVAILABLE",
        message: expect.stringMatching(/^No OpenCL device: libnothing\.so\.9 can't be loaded/u),
      }),
    );
  });

  it("says which function a library lacks", () => {
    const found = openclSupport({ library: "libc.so.6" });
    expect(found).toMatchObject({
      available: false,
      reason: expect.stringMatching(/^libc\.so\.6 can't be loaded: .*'cl\w+'/u),
    });
  });
});

describe.skipIf(!support.available)("where there is OpenCL", () => {
  it("lists what a device is", () => {
    const devices = support.available ? support.devices : [];
    expect(devices.length).toBeGreaterThan(0);
    for (const [index, device] of devices.entries()) {
      expect(device).toMatchObject({ technology: "opencl", index });
      expect(device.name).not.toBe("");
      expect(["gpu", "cpu", "accelerator"]).toContain(device.kind);
      expect(device.memory).toBeGreaterThan(2 ** 20);
    }
  });
});
