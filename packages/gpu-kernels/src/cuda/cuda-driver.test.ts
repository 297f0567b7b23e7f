/** On the stand-in: what is asked of the driver, and what becomes of what it answers. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { controlOf, standInWithFaults } from "../../test/stand-in.js";
import type { GpuArgument, GpuBuffer, GpuDriver } from "../driver.js";
import { openCudaDriver } from "./cuda-driver.js";
import { stagedBytes } from "./reader.js";
import { segmentBytes } from "./staging.js";

const built = standInWithFaults();

test.skipIf(!built.ok)("there is a C++ compiler to build the stand-in with", () => {
  expect(built).toMatchObject({ ok: true });
});

describe.skipIf(!built.ok)("CUDA's driver", () => {
  const { path: library, image } = built as Extract<typeof built, { ok: true }>;
  const control = built.ok ? controlOf(library) : (undefined as never);
  let driver: GpuDriver;

  const open = (index = 0): GpuDriver => {
    const opened = openCudaDriver({ index, library, image });
    onTestFinished(() => opened.close());
    return opened;
  };
  const bufferOf = (values: readonly number[] | Float32Array, of = driver): GpuBuffer => {
    const buffer = of.allocate(4 * values.length);
    of.write(Float32Array.from(values), { buffer, offset: 0 }, "compute");
    return buffer;
  };
  const contentsOf = (buffer: GpuBuffer, of = driver): Float32Array => {
    const values = new Float32Array(buffer.bytes / 4);
    // Rejected with what `finish` throws.
    Promise.resolve(of.read({ buffer, offset: 0 }, values)).catch(() => {});
    of.finish();
    return values;
  };
  const pointer = (buffer: GpuBuffer, offset = 0): GpuArgument => ({
    kind: "pointer",
    value: { buffer, offset },
  });
  const u32 = (value: number): GpuArgument => ({ kind: "u32", value });
  const f32 = (value: number): GpuArgument => ({ kind: "f32", value });
  const scale = (buffer: GpuBuffer, factor: number, of = driver) =>
    of.launch(
      of.kernel("scale"),
      [1],
      [256],
      [pointer(buffer), u32(buffer.bytes / 4), f32(factor)],
    );
  const failure = (code: string, message: RegExp) =>
    expect.objectContaining({ code, message: expect.stringMatching(message) });

  beforeEach(() => {
    control.reset();
    driver = open();
  });
  afterEach(() => control.reset());

  test("says what device it is", () => {
    expect(driver).toMatchObject({ technology: "cuda", name: "Stand-in 0", kind: "gpu" });
    expect(driver.memory()).toEqual({ total: 2 ** 30, free: 2 ** 30 });
    driver.allocate(2 ** 20);
    expect(driver.memory()).toEqual({ total: 2 ** 30, free: 2 ** 30 - 2 ** 20 });
  });

  test("gives back all that it took", () => {
    const before = control.contexts;
    const second = openCudaDriver({ index: 0, library, image });
    second.allocate(1000);
    second.createMark();
    second.close();
    second.close();
    driver.close();
    expect(control.bytes).toBe(0);
    expect(control.contexts).toBe(before - 1);
  });

  test("passes arguments of every kind, with offsets, and both dimensions of a launch", () => {
    const out = driver.allocate(4 * 12);
    const source = bufferOf([1, 2, 3.5]);
    driver.clear({ buffer: out, offset: 0 }, 12);
    const values = [pointer(out, 5), u32(7), f32(-0.25), pointer(source, 2), u32(11)];
    driver.launch(driver.kernel("echo"), [3, 2], [5, 4], values);
    const expected = [0, 0, 0, 0, 0, 7, -0.25, 3.5, 11, 3254, 0, 0];
    expect(contentsOf(out)).toEqual(Float32Array.from(expected));
  });

  test("passes the largest u32, and reads an argument at the launch", () => {
    const out = driver.allocate(4 * 5);
    const values = [pointer(out), u32(2 ** 32 - 1), f32(1), pointer(bufferOf([0])), u32(1)];
    driver.launch(driver.kernel("echo"), [1], [1], values);
    values[1] = u32(1);
    expect(contentsOf(out)[0]).toBe(2 ** 32);
  });

  test("refuses more arguments than there is room for", () => {
    const values = Array.from({ length: 33 }, () => u32(0));
    expect(() => driver.launch(driver.kernel("echo"), [1], [1], values)).toThrow(RangeError);
  });

  test("fresh memory holds anything but zeros", () => {
    expect([...contentsOf(driver.allocate(16))]).toEqual([NaN, NaN, NaN, NaN]);
  });

  test("clears and copies parts, from shared memory too", async () => {
    const buffer = bufferOf([1, 2, 3, 4, 5, 6]);
    driver.clear({ buffer, offset: 1 }, 2);
    const shared = new Float32Array(new SharedArrayBuffer(16)).fill(9);
    driver.write(shared.subarray(1, 2), { buffer, offset: 4 }, "compute");
    const words = Uint32Array.of(0x40000000);
    driver.write(words, { buffer, offset: 5 }, "compute");
    driver.write(new Float32Array(0), { buffer, offset: 0 }, "compute");
    const target = new Float32Array(new SharedArrayBuffer(24));
    await driver.read({ buffer, offset: 0 }, target);
    expect([...target]).toEqual([1, 0, 0, 4, 9, 2]);
    expect(driver.read({ buffer, offset: 0 }, new Float32Array(0))).toBeUndefined();
  });

  test("short reads are promises of what was there, and a read meanwhile waits for itself", async () => {
    const buffer = bufferOf([1, 2]);
    const [first, second] = [new Float32Array(2), new Uint32Array(1)];
    const read = driver.read({ buffer, offset: 0 }, first);
    expect([...first]).toEqual([0, 0]);
    scale(buffer, 2);
    expect(driver.read({ buffer, offset: 1 }, second)).toBeUndefined();
    expect([...second]).toEqual([0x40800000]);
    await read;
    expect([...first]).toEqual([1, 2]);
  });

  test("long reads block", () => {
    const values = new Float32Array(stagedBytes / 4 + 1).fill(3);
    const at = { buffer: bufferOf(values), offset: 0 };
    const target = new Float32Array(values.length);
    expect(driver.read(at, target)).toBeUndefined();
    expect(Buffer.from(target.buffer).equals(Buffer.from(values.buffer))).toBe(true);
  });

  test("a read under way is done when the driver is closed, and fails when the device is lost", async () => {
    const buffer = bufferOf([1, 2]);
    const target = new Float32Array(2);
    const read = driver.read({ buffer, offset: 0 }, target);
    driver.close();
    await read;
    expect([...target]).toEqual([1, 2]);

    driver = open();
    const other = bufferOf([1, 2]);
    driver.launch(driver.kernel("write_at"), [1], [1], [pointer(other), u32(500)]);
    await expect(driver.read({ buffer: other, offset: 0 }, target)).rejects.toThrow(
      failure("GPU_LOST", /cuEventQuery returns CUDA_ERROR_ILLEGAL_ADDRESS/u),
    );
  });

  test("sources may be changed as soon as they are written, on both queues", () => {
    const source = Float32Array.of(1, 2);
    const [first, second] = [driver.allocate(8), driver.allocate(8)];
    driver.write(source, { buffer: first, offset: 0 }, "compute");
    driver.write(source, { buffer: second, offset: 0 }, "copy");
    source.fill(0);
    driver.finish();
    expect([...contentsOf(first), ...contentsOf(second)]).toEqual([1, 2, 1, 2]);
  });

  describe.each(["lazy", "eager", "copies-first"])("with streams that are %s", (streams) => {
    beforeEach(() => control.set("STREAMS", streams));

    test("uploads many pieces of all sizes through the same memory", () => {
      const length = segmentBytes / 4;
      const sizes = [1, length, 10, length - 9, length + 1, 3 * length, 7, length / 2, length / 2];
      const pieces = [...sizes, ...sizes].map((size, i) => new Float32Array(size).fill(i + 1));
      const buffers = pieces.map((piece) => driver.allocate(piece.byteLength));
      pieces.forEach((piece, i) => {
        const source = piece.slice();
        driver.write(source, { buffer: buffers[i]!, offset: 0 }, "copy");
        source.fill(-1);
      });
      driver.finish();
      const areSame = pieces.map((piece, i) =>
        Buffer.from(piece.buffer).equals(Buffer.from(contentsOf(buffers[i]!).buffer)),
      );
      expect(areSame).toEqual(pieces.map(() => true));
    });

    test("marks order what queues do, both ways", () => {
      const buffer = driver.allocate(4);
      const at = { buffer, offset: 0 };
      const [uploaded, used] = [driver.createMark(), driver.createMark()];
      const results: number[] = [];
      const copies: GpuBuffer[] = [];
      for (let round = 1; round <= 3; round++) {
        driver.wait(used, "copy");
        driver.write(Float32Array.of(round), at, "copy");
        driver.record(uploaded, "copy");
        driver.wait(uploaded, "compute");
        scale(buffer, 10);
        const out = driver.allocate(20);
        copies.push(out);
        const values = [pointer(out), u32(0), f32(0), pointer(buffer), u32(0)];
        driver.launch(driver.kernel("echo"), [1], [1], values);
        driver.record(used, "compute");
      }
      for (const copy of copies) results.push(contentsOf(copy)[2]!);
      expect(results).toEqual([10, 20, 30]);
    });
  });

  test("an upload that nobody waits for shows on lazy streams", () => {
    const buffer = bufferOf([1]);
    driver.write(Float32Array.of(2), { buffer, offset: 0 }, "copy");
    expect([...contentsOf(buffer)]).toEqual([1]);
  });

  test("an upload that does not wait for the use of what it replaces shows when copies go first", () => {
    control.set("STREAMS", "copies-first");
    const buffer = bufferOf([1]);
    scale(buffer, 10);
    driver.write(Float32Array.of(2), { buffer, offset: 0 }, "copy");
    expect([...contentsOf(buffer)]).toEqual([20]);
  });

  test("two devices, and two drivers of one, work in turns", () => {
    control.set("DEVICES", "2");
    const others = [open(), open(1)];
    const all = [driver, ...others];
    const buffers = all.map((of, i) => bufferOf([i + 1], of));
    all.forEach((of, i) => scale(buffers[i]!, 2, of));
    expect(all.map((of, i) => contentsOf(buffers[i]!, of)[0])).toEqual([2, 4, 6]);
    expect(others[1]!.name).toBe("Stand-in 1");
  });

  test("memory of another device is no target of a copy", () => {
    control.set("DEVICES", "2");
    const foreign = bufferOf([1], open(1));
    expect(() => driver.write(Float32Array.of(1), { buffer: foreign, offset: 0 }, "copy")).toThrow(
      failure(
        "GPU_DRIVER",
        /^Stand-in 0: cuMemcpyHtoDAsync_v2 returns CUDA_ERROR_INVALID_VALUE\.$/u,
      ),
    );
  });

  test("memory that is not to be had is an error with both numbers, and nothing is lost", () => {
    control.set("DEVICES", "2");
    control.set("MEMORY", String(2 ** 24));
    const small = open(1);
    const buffer = small.allocate(2 ** 23);
    expect(() => small.allocate(2 ** 24)).toThrow(
      failure("GPU_MEMORY", /no room for 16 MiB, 8 MiB are left .*CUDA_ERROR_OUT_OF_MEMORY/u),
    );
    small.free(buffer);
    expect(small.allocate(2 ** 24).bytes).toBe(2 ** 24);
  });

  test("copies beyond a buffer, kernels that there are not, and launches that are too large are refused", () => {
    const buffer = driver.allocate(16);
    expect(() => driver.write(new Float32Array(5), { buffer, offset: 0 }, "compute")).toThrow(
      failure("GPU_DRIVER", /cuMemcpyHtoDAsync_v2 returns CUDA_ERROR_INVALID_VALUE/u),
    );
    expect(() => driver.write(new Float32Array(1), { buffer, offset: 4 }, "copy")).toThrow(
      failure("GPU_DRIVER", /CUDA_ERROR_INVALID_VALUE/u),
    );
    expect(() => driver.read({ buffer, offset: 1 }, new Float32Array(4))).toThrow(
      failure("GPU_DRIVER", /cuMemcpyDtoHAsync_v2 returns CUDA_ERROR_INVALID_VALUE/u),
    );
    expect(() => driver.clear({ buffer, offset: 3 }, 2)).toThrow(
      failure("GPU_DRIVER", /cuMemsetD32Async returns CUDA_ERROR_INVALID_VALUE/u),
    );
    expect(() => driver.kernel("none")).toThrow(
      failure("GPU_DRIVER", /cuModuleGetFunction of none returns CUDA_ERROR_NOT_FOUND/u),
    );
    expect(() => driver.launch(driver.kernel("scale"), [1], [1025], [])).toThrow(
      failure("GPU_DRIVER", /cuLaunchKernel of scale returns CUDA_ERROR_INVALID_VALUE/u),
    );
    expect([...contentsOf(bufferOf([4]))]).toEqual([4]);
  });

  test("a device that is lost refuses all that follows, gives all back, and can be opened anew", () => {
    const buffer = bufferOf([1]);
    driver.launch(driver.kernel("write_at"), [1], [1], [pointer(buffer), u32(500)]);
    const loss = failure(
      "GPU_LOST",
      /^Stand-in 0 can't be used any more: cuStreamSynchronize returns CUDA_ERROR_ILLEGAL_ADDRESS\.$/u,
    );
    expect(() => driver.finish()).toThrow(loss);
    expect(() => driver.allocate(4)).toThrow(loss);
    expect(() => contentsOf(buffer)).toThrow(loss);
    expect(() => scale(buffer, 2)).toThrow(loss);
    expect(control.contexts).toBe(0);
    driver.close();
    const again = open();
    expect([...contentsOf(bufferOf([5], again), again)]).toEqual([5]);
  });

  test.each([
    ["cuMemAlloc_v2@1=2", "GPU_MEMORY", /CUDA_ERROR_OUT_OF_MEMORY/u],
    ["cuMemcpyHtoDAsync_v2@1=719", "GPU_LOST", /CUDA_ERROR_LAUNCH_FAILED/u],
    ["cuLaunchKernel@2=702", "GPU_LOST", /cuLaunchKernel of scale .*CUDA_ERROR_LAUNCH_TIMEOUT/u],
    ["*@4=999", "GPU_LOST", /CUDA_ERROR_UNKNOWN/u],
    ["cuMemcpyDtoHAsync_v2@1=46", "GPU_LOST", /error 46/u],
    ["cuLaunchKernel@1=801", "GPU_DRIVER", /CUDA_ERROR_NOT_SUPPORTED/u],
  ])("a call that fails with %s is %s", (fail, code, message) => {
    control.set("FAIL", fail);
    expect(() => {
      const buffer = bufferOf([1]);
      scale(buffer, 2);
      scale(buffer, 2);
      contentsOf(buffer);
    }).toThrow(failure(code, message));
  });

  test("a device that does not come back can't be opened anew", () => {
    control.set("FAIL", "*@1=999");
    expect(() => driver.finish()).toThrow(failure("GPU_LOST", /CUDA_ERROR_UNKNOWN/u));
    expect(() => open()).toThrow(
      failure(
        "GPU_UNAVAILABLE",
        /^No CUDA device: CUDA fails: cuInit returns CUDA_ERROR_UNKNOWN; /u,
      ),
    );
  });

  test.each([
    ["cuDevicePrimaryCtxRetain", 2, "GPU_MEMORY"],
    ["cuStreamCreate", 2, "GPU_MEMORY"],
    ["cuModuleLoadData", 218, "GPU_DRIVER"],
    ["cuMemHostAlloc", 2, "GPU_MEMORY"],
    ["cuEventCreate", 719, "GPU_LOST"],
  ])("nothing is kept where opening fails in %s", (call, status, code) => {
    const before = control.contexts;
    control.set("FAIL", `${call}@1=${status}`);
    expect(() => openCudaDriver({ index: 0, library, image })).toThrow(
      failure(code, new RegExp(call, "u")),
    );
    driver.close();
    expect(control.contexts).toBe(before - 1);
  });

  test("a device that there is not is told with those that there are", () => {
    expect(() => open(1)).toThrow(
      failure(
        "GPU_UNAVAILABLE",
        /^There is no CUDA device 1; 1 are found, from 0 on: Stand-in 0\.$/u,
      ),
    );
  });
});
