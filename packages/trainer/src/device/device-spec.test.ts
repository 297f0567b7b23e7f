import { expect, test } from "vitest";
import { defaultDevices, formatDevice, parseDevices } from "./device-spec.js";

test("a list names devices, handicaps and counts", () => {
  expect(parseDevices("cpu, cpu@0.5,2*cpu@.25")).toEqual([
    { kind: "cpu", threads: 1, speed: 1, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.25, role: "host" },
    { kind: "cpu", threads: 1, speed: 0.25, role: "host" },
  ]);
});

test("a device may have threads", () => {
  expect(parseDevices("cpu:4,2*cpu:256@0.5,cpu:1")).toEqual([
    { kind: "cpu", threads: 4, speed: 1, role: "host" },
    { kind: "cpu", threads: 256, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 256, speed: 0.5, role: "host" },
    { kind: "cpu", threads: 1, speed: 1, role: "host" },
  ]);
});

test("a device may have a role, alone and beside threads and a handicap", () => {
  const accelerator = { kind: "cpu", speed: 1, role: "accelerator" } as const;
  expect(parseDevices("cpu:4,cpu:2:role=accelerator,cpu:role=accelerator:3@0.5")).toEqual([
    { kind: "cpu", threads: 4, speed: 1, role: "host" },
    { ...accelerator, threads: 2 },
    { ...accelerator, threads: 3, speed: 0.5 },
  ]);
  expect(parseDevices("cpu:role=host")).toEqual(parseDevices("cpu"));
});

test("a GPU is an accelerator, named by its technology, its number or its kind", () => {
  const gpu = { threads: 1, speed: 1, role: "accelerator" } as const;
  expect(parseDevices("cuda,cuda:1,opencl,opencl:0@0.5,opencl:cpu,2*opencl:gpu")).toEqual([
    { ...gpu, kind: "cuda" },
    { ...gpu, kind: "cuda", which: 1 },
    { ...gpu, kind: "opencl" },
    { ...gpu, kind: "opencl", which: 0, speed: 0.5 },
    { ...gpu, kind: "opencl", which: "cpu" },
    { ...gpu, kind: "opencl", which: "gpu" },
    { ...gpu, kind: "opencl", which: "gpu" },
  ]);
  expect(parseDevices("cuda:role=accelerator:1")).toEqual(parseDevices("cuda:1"));
});

test("gpu.js is an accelerator, on headless-gl unless another mode is named, perhaps in a process of its own", () => {
  const gpujs = { kind: "gpujs", threads: 1, speed: 1, role: "accelerator" } as const;
  expect(parseDevices("gpujs,gpujs:headlessgl@0.5,gpujs:webasm,gpujs:cpu,gpujs:process")).toEqual([
    { ...gpujs, mode: "headlessgl" },
    { ...gpujs, mode: "headlessgl", speed: 0.5 },
    { ...gpujs, mode: "webasm" },
    { ...gpujs, mode: "cpu" },
    { ...gpujs, mode: "headlessgl", isolation: "process" },
  ]);
  expect(parseDevices("gpujs:process:webasm")).toEqual(parseDevices("gpujs:webasm:process"));
  expect(parseDevices("gpujs").map(formatDevice)).toEqual(["gpujs:headlessgl"]);
});

test("a device is formatted as it is read", () => {
  const processors = ["cpu", "cpu@0.5", "cpu:4", "cpu:2@0.25", "cpu:2:role=accelerator@0.5"];
  const texts = [...processors, "cuda", "cuda:0", "cuda:12@0.5", "opencl", "opencl:gpu@0.25"];
  texts.push("gpujs:webasm@0.5", "gpujs:headlessgl:process");
  for (const text of texts) expect(parseDevices(text).map(formatDevice)).toEqual([text]);
});

test.each([
  ["", "cannot read device"],
  ["cpu,,cpu", "cannot read device"],
  ["cpu@", "cannot read device"],
  ["cpu@0", "speed"],
  ["cpu@1.5", "speed"],
  ["cpu@-1", "speed"],
  ["cpu@fast", "speed"],
  ["cpu@nan", "speed"],
  ["0*cpu", "no device at all"],
  ["65*cpu", "at most 64"],
  ["tpu", 'unknown device kind "tpu"'],
  ["cpu:0", "threads"],
  ["cpu:", "threads"],
  ["cpu:257", "from 1 to 256"],
  ["cpu:1.5", "threads"],
  ["cpu:all@0.5", '"all" threads'],
  ["cpu:2:3", "threads twice"],
  ["cpu:role=gpu", "expected host or accelerator"],
  ["cpu:role=", "expected host or accelerator"],
  ["cpu:role=host:role=host", "role twice"],
  ["cuda:gpu", "a number from 0 on, e.g. cuda:1"],
  ["cuda:-1", 'cuda device "-1"'],
  ["cuda:0:1", "which it is twice"],
  ["cuda:role=host", "has a copy of its own"],
  ["opencl:fpga", "or gpu, cpu, accelerator"],
  ["opencl:", "expected a number"],
  ["gpujs:webgl", 'gpu.js on "webgl"; expected headlessgl, webasm, cpu or process'],
  ["gpujs:", 'gpu.js on ""'],
  ["gpujs:0", 'gpu.js on "0"'],
  ["gpujs:cpu:webasm", "runs on twice"],
  ["gpujs:process:process", "its process twice"],
  ["gpujs:role=host", "has a copy of its own"],
  ["gpu", "this version drives: cpu, cuda, opencl, gpujs"],
  ["cpu:color=red", 'sets "color"'],
])("%j is refused, and the message says why", (text, message) => {
  expect(() => parseDevices(text)).toThrowError(message);
  expect(() => parseDevices(text)).toThrowError(expect.objectContaining({ code: "DEVICE_SPEC" }));
});

test("there is one default device a core, and at least one", () => {
  expect(defaultDevices(2)).toHaveLength(2);
  expect(defaultDevices(0)).toHaveLength(1);
  expect(defaultDevices(1000)).toHaveLength(64);
});
