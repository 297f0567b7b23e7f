import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { controlOf, standIn } from "../test/stand-in.js";
import { createGpuKernels } from "./gpu-kernels.js";
import { gpuMemory } from "./gpu-memory.js";
import { openclSupport } from "./opencl/devices.js";

const opencl = openclSupport();

test.skipIf(!opencl.available)("OpenCL tells what there is in all", () => {
  const { devices } = opencl as Extract<typeof opencl, { available: true }>;
  const { memory: total } = devices[0]!;
  expect(gpuMemory({ technology: "opencl", index: 0 })).toEqual({ total, free: null });
  expect(() => gpuMemory({ technology: "opencl", index: 99 })).toThrow(/no OpenCL device 99/u);
});

describe.skipIf(!standIn.ok)("CUDA", () => {
  const library = standIn.ok ? standIn.path : "";
  const control = standIn.ok ? controlOf(library) : (undefined as never);
  const asked = { technology: "cuda", index: 0, library } as const;
  afterEach(() => control.reset());

  test("tells what is left, and no context is kept", () => {
    control.set("MEMORY", String(2 ** 20));
    expect(gpuMemory(asked)).toEqual({ total: 2 ** 20, free: 2 ** 20 });
    expect(control.contexts).toBe(0);
  });

  test("tells what is left beside kernels of this thread, which go on working", async () => {
    control.set("DEVICES", "2");
    const kernels = createGpuKernels(asked);
    onTestFinished(() => kernels.dispose());
    const array = kernels.allocate(2 ** 18);
    const { total, free } = gpuMemory(asked);
    expect(total - free!).toBe(2 ** 20);
    expect(gpuMemory({ ...asked, index: 1 }).free).toBe(total);
    const values = new Float32Array(2 ** 18).fill(1);
    await kernels.read(array, values);
    expect(values.every((value) => value === 0)).toBe(true);
    expect(control.contexts).toBe(1);
  });

  test.each([
    ["cuDevicePrimaryCtxRetain@1=2", "GPU_MEMORY"],
    ["cuMemGetInfo_v2@1=1", "GPU_DRIVER"],
    ["cuCtxSetCurrent@1=999", "GPU_LOST"],
  ])("that fails with %s is %s, and no context is kept", (fault, code) => {
    control.set("FAIL", fault);
    expect(() => gpuMemory(asked)).toThrow(expect.objectContaining({ code }));
    expect(control.contexts).toBe(0);
  });
});
