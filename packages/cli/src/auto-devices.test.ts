/** With a stand-in for CUDA's driver: a machine that has GPUs, and one that has none. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { autoDevices } from "./auto-devices.js";
import { findGpujs } from "./gpujs.js";
import { measureDevices } from "./measure-devices.js";

vi.mock("./gpujs.js");
vi.mock("./measure-devices.js");
const rates = vi.mocked(measureDevices);
const webGl = vi.mocked(findGpujs);

/** What gpu.js offers, drawn by a renderer of that name and kind. */
const drawnBy = (name: string, kind: "gpu" | "cpu") => ({
  devices: [{ technology: "gpujs", mode: "headlessgl", name, kind } as const],
  lacking: [],
});

const said: string[] = [];
const output = {
  say: (text: string) => void said.push(text),
  warn: (text: string) => void said.push(`warning: ${text}`),
};
const auto = (changes: Partial<Parameters<typeof autoDevices>[0]> = {}) =>
  autoDevices({ algorithm: "adaptive-sgd", kernels: "auto", require: false, ...changes }, output);

/** Each GPU is as fast as its place in the list says, or fails; then the processor, and gpu.js. */
function measuredAs(...rowsPerSecond: readonly (number | Error)[]): void {
  rates.mockImplementation(([device]) => {
    const place = { cpu: 2, gpujs: 3, cuda: Number(device!.which), opencl: NaN };
    const rate = rowsPerSecond[place[device!.kind]]!;
    if (rate instanceof Error) return Promise.reject(rate);
    return Promise.resolve([{ rowsPerSecond: rate }] as unknown as ReturnType<
      typeof measureDevices
    >);
  });
}

describe.skipIf(skipped.cuda !== "")(`auto on a machine with GPUs${skipped.cuda}`, () => {
  const { library, control } = cudaStandIn ?? (undefined as never);
  beforeEach(() => {
    said.length = 0;
    webGl.mockResolvedValue({ devices: [], lacking: [] });
    process.env["HETEROSGD_CUDA_LIBRARY"] = library;
    control.set("DEVICES", "2");
  });
  afterEach(() => {
    control.reset();
    delete process.env["HETEROSGD_CUDA_LIBRARY"];
  });

  test("takes them by measured speed, then the processor, and says how fast they are", async () => {
    measuredAs(1000, 25_000);
    expect(await auto()).toMatch(/^cuda:1,cuda:0,cpu(:\d+)?$/);
    expect(said).toEqual([
      "measuring Stand-in 0, Stand-in 1",
      "cuda:0 (Stand-in 0): 1,000 rows/s",
      "cuda:1 (Stand-in 1): 25,000 rows/s",
    ]);
    expect(await auto({ kernels: "plain" })).toMatch(/^cuda:1,cuda:0(,cpu)+$/);
  });

  test("leaves one out that fails, and says so; with require that is an error", async () => {
    measuredAs(1000, new Error("the card has fallen off the bus"));
    expect(await auto()).toMatch(/^cuda:0,cpu/);
    expect(said.at(-1)).toBe(
      "warning: cuda:1 (Stand-in 1) can't be used: the card has fallen off the bus; going on without it",
    );
    await expect(auto({ require: true })).rejects.toMatchObject({
      code: "KERNELS_UNAVAILABLE",
      message: expect.stringContaining("fallen off the bus"),
    });
  });

  test("takes gpu.js in place of the same GPU where it is the fastest, and says how fast it is", async () => {
    webGl.mockResolvedValue(drawnBy("Stand-in 1/PCIe/SSE2", "gpu"));
    measuredAs(1000, 25_000, 800, 30_000);
    expect(await auto()).toMatch(/^gpujs:headlessgl,cuda:0,cpu(:\d+)?$/);
    expect(said.slice(3)).toEqual([
      "measuring Stand-in 1/PCIe/SSE2",
      "gpujs:headlessgl (Stand-in 1/PCIe/SSE2): 30,000 rows/s",
    ]);
    webGl.mockResolvedValue(drawnBy("Another", "gpu"));
    expect(await auto()).toMatch(/^gpujs:headlessgl,cuda:1,cuda:0,cpu/);
  });

  test.each([
    ["a GPU", [1000, 25_000, 800, 24_000]],
    ["the processor", [1000, 25_000, 31_000, 30_000]],
  ])("goes on without gpu.js where %s is faster", async (_, speeds) => {
    webGl.mockResolvedValue(drawnBy("Another", "gpu"));
    measuredAs(...speeds);
    expect(await auto()).toMatch(/^cuda:1,cuda:0,cpu/);
    expect(said.at(-1)).toBe("going on without gpu.js: it is not the fastest");
  });

  test("never takes gpu.js where software draws or it fails", async () => {
    webGl.mockResolvedValue(drawnBy("llvmpipe", "cpu"));
    measuredAs(1000, 2000, 800, 30_000);
    expect(await auto()).toMatch(/^cuda:1,cuda:0,cpu/);
    expect(said.join()).not.toContain("gpujs");
    webGl.mockResolvedValue(drawnBy("Another", "gpu"));
    measuredAs(1000, 2000, 800, new Error("the context is lost"));
    expect(await auto()).toMatch(/^cuda:1,cuda:0,cpu/);
    expect(said.at(-1)).toMatch(
      /^warning: gpujs:headlessgl \(Another\) can't be used: the context/,
    );
  });

  test("takes none for an algorithm of hosts alone, nor where all fail", async () => {
    measuredAs(new Error("broken"), new Error("broken"));
    expect(await auto({ algorithm: "hogwild" })).toBeNull();
    expect(said).toEqual([]);
    expect(await auto()).toBeNull();
  });
});
