import { expect, test } from "vitest";
import { createStatusCheck } from "./failures.js";

const check = createStatusCheck("Some GPU");
const memory = { wanted: 3 * 2 ** 20, free: 2 ** 20 };

test.each([
  [
    "memory that it has not",
    -4,
    memory,
    "GPU_MEMORY",
    /^Some GPU has no room for 3 MiB, 1 MiB are left \(call: CL_MEM_OBJECT_ALLOCATION_FAILURE\): use smaller/u,
  ],
  [
    "resources, of a call that takes memory",
    -5,
    memory,
    "GPU_MEMORY",
    /no room .*\(call: CL_OUT_OF_RESOURCES\)/u,
  ],
  [
    "memory, of a kernel",
    -6,
    undefined,
    "GPU_MEMORY",
    /^Some GPU has no memory left: call returns CL_OUT_OF_HOST_MEMORY\.$/u,
  ],
  [
    "resources, of a kernel that crashed",
    -5,
    undefined,
    "GPU_LOST",
    /^Some GPU can't be used any more: call returns CL_OUT_OF_RESOURCES\.$/u,
  ],
  ["a device that is gone", -2, memory, "GPU_LOST", /CL_DEVICE_NOT_AVAILABLE/u],
  ["work that failed", -14, undefined, "GPU_LOST", /CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST/u],
  [
    "something else",
    -54,
    undefined,
    "GPU_DRIVER",
    /^Some GPU: call returns CL_INVALID_WORK_GROUP_SIZE\.$/u,
  ],
  [
    "an error of a maker's own",
    -9999,
    undefined,
    "GPU_DRIVER",
    /^Some GPU: call returns error -9999\.$/u,
  ],
] as const)("%s is told by its code and OpenCL's name", (_, status, of, code, message) => {
  expect(() => check("call", status, of)).toThrow(
    expect.objectContaining({
      name: "GpuKernelsError",
      code,
      message: expect.stringMatching(message),
    }),
  );
});

test("0 is no failure", () => {
  expect(() => check("call", 0, memory)).not.toThrow();
});
