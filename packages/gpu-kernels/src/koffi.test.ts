import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("node:module");
  vi.resetModules();
});

/** The package as it is where requiring koffi throws this. */
async function without(error: Error) {
  vi.resetModules();
  vi.doMock("node:module", () => ({
    createRequire: () => () => {
      throw error;
    },
  }));
  return import("./index.js");
}

const missing = Object.assign(new Error("Cannot find module 'koffi'"), {
  code: "MODULE_NOT_FOUND",
});

test("where koffi is missing, nothing throws but what was asked for by name: with the reason and a command", async () => {
  const { createGpuKernels, cudaSupport, openclSupport } = await without(missing);
  const lack = {
    available: false,
    reason: "the package koffi, which calls GPU drivers, is not installed",
    remedy: expect.stringMatching(/^install it: `npm install koffi@\d+\.\d+\.\d+`/),
  };
  expect(cudaSupport()).toEqual(lack);
  expect(openclSupport()).toEqual(lack);
  for (const technology of ["cuda", "opencl"] as const) {
    expect(() => createGpuKernels({ technology })).toThrow(
      expect.objectContaining({
        code: "GPU_UNAVAILABLE",
        message: expect.stringMatching(/koffi.* is not installed; install it: `npm install/),
      }),
    );
  }
});

test("where koffi can't be loaded, its own words are the reason", async () => {
  const { cudaSupport } = await without(new Error("no binary for this platform\nand more"));
  expect(cudaSupport()).toMatchObject({
    available: false,
    reason: "koffi can't be loaded: no binary for this platform",
  });
});

test("the version to install is the one that this package is made for", async () => {
  const { optionalDependencies } = (await import("../package.json", { with: { type: "json" } }))
    .default;
  const { cudaSupport } = await without(missing);
  expect(cudaSupport()).toMatchObject({
    remedy: expect.stringContaining(`koffi@${optionalDependencies.koffi}`),
  });
});
