/** What the stand-in has to find, as a GPU would or in its place: kernels with a fault each, see stand-in/faults. */
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { controlOf, standInWithFaults } from "../../test/stand-in.js";
import type { GpuArgument } from "../driver.js";
import { openCudaDriver } from "./cuda-driver.js";

const built = standInWithFaults();

test.skipIf(!built.ok)("there is a C++ compiler to build the stand-in with", () => {
  expect(built).toMatchObject({ ok: true });
});

describe.skipIf(!built.ok)("the stand-in for CUDA's driver", () => {
  const { path: library, image } = built as Extract<typeof built, { ok: true }>;
  const control = built.ok ? controlOf(library) : (undefined as never);
  afterEach(() => control.reset());

  const u32 = (value: number): GpuArgument => ({ kind: "u32", value });

  /** What 8 values, or as many, from 0 on are after a kernel has run on as many items. */
  function run(
    name: string,
    {
      numbers = [] as readonly number[],
      groups = 1,
      length = 8,
    }: { numbers?: readonly number[]; groups?: number; length?: number } = {},
  ): readonly number[] {
    const driver = openCudaDriver({ index: 0, library, image });
    onTestFinished(() => driver.close());
    const values = Float32Array.from({ length }, (_, i) => i);
    const at = { buffer: driver.allocate(values.byteLength), offset: 0 };
    driver.write(values, at, "compute");
    const pointer: GpuArgument = { kind: "pointer", value: at };
    driver.launch(driver.kernel(name), [groups], [length], [pointer, ...numbers.map(u32)]);
    Promise.resolve(driver.read(at, values)).catch(() => {});
    driver.finish();
    return [...values];
  }
  const illegalAddress = expect.objectContaining({
    code: "GPU_LOST",
    message: expect.stringContaining("CUDA_ERROR_ILLEGAL_ADDRESS"),
  });
  const launchFailed = expect.objectContaining({
    code: "GPU_LOST",
    message: expect.stringContaining("CUDA_ERROR_LAUNCH_FAILED"),
  });

  const rotated = (distance: number) => Array.from({ length: 8 }, (_, i) => (i + distance) % 8);

  test.each(["forward", "backward", "shuffled"])("has barriers hold, items going %s", (order) => {
    control.set("ORDER", order);
    expect(run("rotate", { numbers: [1, 1] })).toEqual(rotated(1));
    expect(run("rotate", { numbers: [7, 1] })).toEqual(rotated(7));
  });

  test("shows a barrier that is missing before others' later values, and, backward, before earlier ones", () => {
    expect(run("rotate", { numbers: [1, 0] })).not.toEqual(rotated(1));
    control.set("ORDER", "backward");
    expect(run("rotate", { numbers: [7, 0] })).not.toEqual(rotated(7));
  });

  test("shows shared memory that was not written", () => {
    expect(run("read_unwritten_shared")).toEqual([NaN, 1, 1, 1, 1, 1, 1, 1]);
  });

  test("shows groups that count on the order of groups", () => {
    const chain = [1, 2, 3, 4, 5, 6, 7, 8];
    expect(run("chain_groups", { groups: 8 })).toEqual(chain);
    control.set("ORDER", "backward");
    expect(run("chain_groups", { groups: 8 })).not.toEqual(chain);
  });

  test.each(["some_miss_barrier", "different_barriers"])("fails a launch where %s", (name) => {
    expect(() => run(name)).toThrow(launchFailed);
  });

  test.each([
    ["beyond a buffer", 500, 8],
    ["right behind a buffer", 8, 8],
    ["behind a buffer that does not fill its last piece", 5, 5],
  ])("fails a launch that writes %s", (_, index, length) => {
    expect(() => run("write_at", { numbers: [index], length })).toThrow(illegalAddress);
  });

  test("fails a launch that divides by zero or takes more stack than there is", () => {
    expect(() => run("divide_by_zero", { numbers: [0] })).toThrow(launchFailed);
    expect(() => run("overflow_stack", { numbers: [0] })).toThrow(illegalAddress);
  });

  test("goes on working after each of them", () => {
    for (const name of ["some_miss_barrier", "write_at", "overflow_stack"]) {
      expect(() => run(name, { numbers: [500] })).toThrow(/GPU|CUDA_ERROR/u);
    }
    expect(run("rotate", { numbers: [1, 1] })).toEqual(rotated(1));
    expect(control.contexts).toBe(1);
  });

  test("refuses PTX of other kernels, of a later version, and for newer GPUs", () => {
    const text = new TextDecoder().decode(image);
    const openWith = (ptx: string) =>
      openCudaDriver({ index: 0, library, image: new TextEncoder().encode(ptx) });
    const other = openWith(text.replace(/\.param \.u32 param_2/gu, ".param .u64 param_2"));
    onTestFinished(() => other.close());
    expect(() => other.kernel("scale")).toThrow(/CUDA_ERROR_INVALID_IMAGE/u);
    expect(() => openWith(text.replace(".version 6.5", ".version 9.1"))).toThrow(
      /CUDA_ERROR_UNSUPPORTED_PTX_VERSION/u,
    );
    expect(() => openWith(text.replace("sm_75", "sm_90"))).toThrow(/CUDA_ERROR_NO_BINARY_FOR_GPU/u);
    expect(() => openWith("no PTX\0")).toThrow(/CUDA_ERROR_INVALID_PTX/u);
  });
});
