import type { GpujsSupport } from "@heterosgd/gpu-kernels";
import { expect, test } from "vitest";
import { parseDevices } from "../device/device-spec.js";
import { chooseKernels, type KernelsOptions } from "./choose-kernels.js";
import { withGpujs } from "./choose-gpujs.js";

const webasm = { technology: "gpujs", mode: "webasm", name: "WebAssembly", kind: "cpu" } as const;
const renderer = {
  technology: "gpujs",
  mode: "headlessgl",
  name: "Radiant 9",
  kind: "gpu",
} as const;
const lack = (mode: "headlessgl" | "cpu") => ({
  mode,
  reason: "there is no display",
  remedy: "start one with xvfb-run",
});
const all: GpujsSupport = { devices: [renderer, webasm], lacking: [lack("cpu")] };
const withoutGl: GpujsSupport = { devices: [webasm], lacking: [lack("headlessgl"), lack("cpu")] };

const chosen = (list: string, gpujs?: GpujsSupport) =>
  chooseKernels(parseDevices(list), { kernels: "plain", gpujs }).devices;

test("what a device of gpu.js is to run on is told by name, with its renderer", () => {
  const host = { name: "plain", isa: null, threads: 1, bf16: false };
  expect(chosen("gpujs,cpu,gpujs:webasm:process", all)).toEqual([
    { name: "gpujs", mode: "headlessgl", isolation: "thread", device: "Radiant 9", host },
    host,
    { name: "gpujs", mode: "webasm", isolation: "process", device: "WebAssembly", host },
  ]);
});

test.each([
  [withoutGl, "or name what there is: gpujs:webasm (WebAssembly)"],
  [{ devices: [], lacking: [lack("headlessgl")] }, "start one with xvfb-run"],
])("another mode never serves in place of the one that is asked for", (support, end) => {
  expect(() => chosen("cpu,gpujs", support)).toThrow(
    expect.objectContaining({
      code: "KERNELS_UNAVAILABLE",
      message: expect.stringMatching(
        /^"gpujs:headlessgl" can't be had: there is no display; start one with xvfb-run/,
      ),
    }),
  );
  expect(() => chosen("gpujs", support)).toThrow(end);
});

test("who chooses without waiting has to say what gpu.js offers", () => {
  expect(() => chosen("gpujs")).toThrow(TypeError);
});

test("gpu.js is looked for only where a device runs on it and nobody has looked", async () => {
  const options: KernelsOptions = { kernels: "plain" };
  expect(await withGpujs(options, parseDevices("cpu,cuda"))).toBe(options);
  const told = { ...options, gpujs: all };
  expect(await withGpujs(told, parseDevices("gpujs"))).toBe(told);
});
