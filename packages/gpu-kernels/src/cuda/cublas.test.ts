/** Products by cuBLAS, which the stand-in for CUDA's driver has beside it. */
import { createNetwork, initialise, parameterLayout } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { controlOf, sgemmDeclaration, standIn } from "../../test/stand-in.js";
import type { GpuBuffer, GpuDriver, GpuFactor } from "../driver.js";
import { createGpuKernels } from "../gpu-kernels.js";
import { loadKoffi } from "../koffi.js";
import { gpuKernelsBytes } from "../memory.js";
import { cublasChoice } from "./cublas.js";
import { openCudaDriver } from "./cuda-driver.js";
import { libraryVariable } from "./library.js";

describe("which cuBLAS is taken", () => {
  beforeEach(() => {
    vi.stubEnv("HETEROSGD_CUBLAS", undefined);
    vi.stubEnv(libraryVariable, undefined);
  });
  afterEach(() => vi.unstubAllEnvs());

  test("the system's, unless the option or the environment says otherwise", () => {
    expect(cublasChoice(undefined, undefined)).toBe(true);
    expect(cublasChoice(false, undefined)).toBe(false);
    vi.stubEnv("HETEROSGD_CUBLAS", "off");
    expect(cublasChoice(undefined, undefined)).toBe(false);
    expect(cublasChoice(true, undefined)).toBe(true);
    vi.stubEnv("HETEROSGD_CUBLAS", "/opt/libcublas.so");
    expect(cublasChoice(undefined, undefined)).toBe("/opt/libcublas.so");
    expect(cublasChoice("other", undefined)).toBe("other");
  });

  test("none beside a driver that was named, unless it is named too", () => {
    expect(cublasChoice(undefined, "libother.so")).toBe(false);
    vi.stubEnv(libraryVariable, "libother.so");
    expect(cublasChoice(undefined, undefined)).toBe(false);
    vi.stubEnv("HETEROSGD_CUBLAS", "libothercublas.so");
    expect(cublasChoice(undefined, undefined)).toBe("libothercublas.so");
  });
});

describe.skipIf(!standIn.ok)("cuBLAS", () => {
  const library = standIn.ok ? standIn.path : "";
  const control = standIn.ok ? controlOf(library) : (undefined as never);
  beforeEach(() => control.reset());
  afterEach(() => {
    control.reset();
    vi.unstubAllEnvs();
  });

  function open(): GpuDriver {
    const driver = openCudaDriver({ index: 0, library, cublas: library });
    onTestFinished(() => {
      driver.close();
      expect([control.contexts, control.handles]).toEqual([0, 0]);
    });
    return driver;
  }
  const failure = (code: string, message: RegExp) =>
    expect.objectContaining({ code, message: expect.stringMatching(message) });

  function bufferOf(driver: GpuDriver, values: Float32Array): GpuBuffer {
    const buffer = driver.allocate(values.byteLength);
    driver.write(values, { buffer, offset: 0 }, "compute");
    return buffer;
  }

  async function contentsOf(driver: GpuDriver, buffer: GpuBuffer): Promise<Float32Array> {
    const values = new Float32Array(buffer.bytes / 4);
    await driver.read({ buffer, offset: 0 }, values);
    return values;
  }

  // What lies row by row, and its transpose; sizes of 1, at which both are the same.
  const sizes = [
    [3, 4, 5],
    [7, 2, 1],
    [1, 6, 3],
    [4, 1, 6],
    [1, 1, 9],
    [5, 1, 1],
    [1, 1, 1],
  ] as const;
  const layouts = [
    ["as it is", "as it is"],
    ["as it is", "transposed"],
    ["transposed", "as it is"],
    ["transposed", "transposed"],
  ] as const;

  test.each(layouts)("multiplies what lies %s by what lies %s", async (...[first, second]) => {
    const driver = open();
    const random = createRandom(1, 2);
    for (const [rows, columns, inner] of sizes) {
      const offset = 3;
      const made = (own: number, layout: string) => {
        const values = Float32Array.from({ length: offset + own * inner }, () =>
          random.nextFloat(),
        );
        const strides =
          layout === "transposed" ? { stride: 1, inner: own } : { stride: inner, inner: 1 };
        const place = { buffer: bufferOf(driver, values), offset };
        return { values, factor: { place, ...strides } satisfies GpuFactor };
      };
      const [left, right] = [made(rows, first), made(columns, second)];
      const at = ({ values, factor }: ReturnType<typeof made>, own: number, k: number) =>
        values[offset + own * factor.stride + k * factor.inner]!;
      const before = Float32Array.from({ length: rows * columns }, () => random.nextFloat());
      for (const kept of [0, 1, 0.5]) {
        const out = bufferOf(
          driver,
          kept === 0 ? new Float32Array(rows * columns).fill(NaN) : before,
        );
        driver.products!.multiply({
          rows,
          columns,
          inner,
          left: left.factor,
          right: right.factor,
          scale: -2,
          kept,
          out: { buffer: out, offset: 0 },
        });
        const expected = before.map((value, i) => {
          const [row, column] = [Math.floor(i / columns), i % columns];
          let sum = 0;
          for (let k = 0; k < inner; k++) sum += at(left, row, k) * at(right, column, k);
          return kept * value - 2 * sum;
        });
        expect(await contentsOf(driver, out)).toBeAllClose(expected, { relative: 1e-5 });
      }
    }
  });

  test("has a workspace that is counted, a larger one from Hopper on", () => {
    expect(open().products).toMatchObject({ name: "cublas", workBytes: 4 * 2 ** 20 });
    control.set("CAPABILITY", "90");
    const kernels = createGpuKernels({ technology: "cuda", library, cublas: library });
    expect(kernels).toMatchObject({ name: "cuda-cublas", device: "Stand-in 0" });
    expect(kernels.workBytes()).toBe(32 * 2 ** 20);
    expect(control.bytes).toBeGreaterThanOrEqual(36 * 2 ** 20);
    void kernels.dispose();
  });

  test("is left out when it is off, and named by the environment", async () => {
    const name = (options: object = {}) => {
      const kernels = createGpuKernels({ technology: "cuda", library, ...options });
      void kernels.dispose();
      return kernels.name;
    };
    expect(name()).toBe("cuda");
    vi.stubEnv("HETEROSGD_CUBLAS", library);
    expect(name()).toBe("cuda-cublas");
    expect(name({ cublas: false })).toBe("cuda");
    vi.stubEnv("HETEROSGD_CUBLAS", "off");
    expect(name()).toBe("cuda");
  });

  test.each([
    [
      "there is not",
      "/nowhere/libcublas.so",
      /has no cuBLAS: \/nowhere\/libcublas\.so can't be loaded/,
    ],
    ["is none", "libc.so.6", /has no cuBLAS: libc\.so\.6 can't be loaded: .*cublasCreate_v2/],
  ])("that is named and %s is an error, and nothing is kept", (_, cublas, message) => {
    expect(() => createGpuKernels({ technology: "cuda", library, cublas })).toThrow(
      failure("GPU_UNAVAILABLE", message),
    );
    expect(control.contexts).toBe(0);
  });

  test.each([
    [
      "cublasCreate_v2@1=1",
      "GPU_UNAVAILABLE",
      /cublasCreate_v2 returns CUBLAS_STATUS_NOT_INITIALIZED/,
    ],
    [
      "cublasSetStream_v2@1=7",
      "GPU_DRIVER",
      /cublasSetStream_v2 returns CUBLAS_STATUS_INVALID_VALUE/,
    ],
    ["cublasSetWorkspace_v2@1=3", "GPU_MEMORY", /CUBLAS_STATUS_ALLOC_FAILED/],
    ["cublasSetMathMode@1=99", "GPU_DRIVER", /cublasSetMathMode returns status 99/],
    ["cuMemAlloc_v2@1=2", "GPU_MEMORY", /no room for 4 MiB/],
  ])("that fails with %s is %s, and nothing is kept", (fault, code, message) => {
    control.set("FAIL", fault);
    expect(() => openCudaDriver({ index: 0, library, cublas: library })).toThrow(
      failure(code, message),
    );
    expect([control.contexts, control.handles]).toEqual([0, 0]);
  });

  const multiplyOnes = (driver: GpuDriver, rows = 1) => {
    const place = { buffer: bufferOf(driver, new Float32Array(4).fill(1)), offset: 0 };
    const factor = { place, stride: 1, inner: 1 };
    driver.products!.multiply({
      rows,
      columns: 1,
      inner: 1,
      left: factor,
      right: factor,
      scale: 1,
      kept: 0,
      out: { buffer: driver.allocate(16), offset: 0 },
    });
  };

  test.each([
    [
      "cublasSgemm_v2@1=13",
      "GPU_DRIVER",
      /Stand-in 0: cublasSgemm_v2 returns CUBLAS_STATUS_EXECUTION_FAILED/,
    ],
    ["cublasSgemm_v2@1=3", "GPU_MEMORY", /CUBLAS_STATUS_ALLOC_FAILED/],
  ])("tells %s by its own name: %s", (fault, code, message) => {
    const driver = open();
    control.set("FAIL", fault);
    expect(() => multiplyOnes(driver)).toThrow(failure(code, message));
    multiplyOnes(driver);
    driver.finish();
  });

  test("that reaches beyond a buffer loses the device, as a kernel does", () => {
    const driver = open();
    multiplyOnes(driver, 5);
    expect(() => driver.finish()).toThrow(failure("GPU_LOST", /CUDA_ERROR_ILLEGAL_ADDRESS/));
    expect(() => multiplyOnes(driver)).toThrow(failure("GPU_LOST", /CUDA_ERROR_ILLEGAL_ADDRESS/));
  });

  test("of the stand-in refuses strides that are too short, and other misuse", () => {
    open();
    const { koffi } = loadKoffi() as Extract<ReturnType<typeof loadKoffi>, { ok: true }>;
    const functions = koffi.load(library);
    const [create, destroy, multiply] = [
      "int cublasCreate_v2(void *)",
      "int cublasDestroy_v2(uint64_t)",
      sgemmDeclaration,
    ].map(
      (declaration) => functions.func(declaration) as (...values: readonly unknown[]) => number,
    );
    const made = new BigUint64Array(1);
    expect(create!(made)).toBe(0);
    const one = Float32Array.of(1);
    const [INVALID_VALUE, ALLOC_FAILED, NOT_INITIALIZED] = [7, 3, 1];
    // m × n of k: 3 × 4 of 5.
    const status = (
      operations: readonly [number, number],
      strides: readonly number[],
      counts = [3, 4, 5],
    ) =>
      multiply!(
        made[0],
        ...operations,
        ...counts,
        one,
        0n,
        strides[0],
        0n,
        strides[1],
        one,
        0n,
        strides[2],
      );
    // Sound, but without a workspace.
    expect(status([0, 0], [3, 5, 3])).toBe(ALLOC_FAILED);
    expect(status([1, 1], [5, 4, 3])).toBe(ALLOC_FAILED);
    for (const strides of [
      [2, 5, 3],
      [3, 4, 3],
      [3, 5, 2],
    ]) {
      expect(status([0, 0], strides)).toBe(INVALID_VALUE);
    }
    for (const strides of [
      [4, 4, 3],
      [5, 3, 3],
    ])
      expect(status([1, 1], strides)).toBe(INVALID_VALUE);
    expect(status([0, 0], [3, 5, 3], [-1, 4, 5])).toBe(INVALID_VALUE);
    expect(status([3, 0], [9, 9, 9])).toBe(INVALID_VALUE);
    expect(destroy!(made[0])).toBe(0);
    expect(destroy!(made[0])).toBe(NOT_INITIALIZED);
  });

  test("a network's steps come to what own kernels come to, and to the same bits each time", async () => {
    const layout = parameterLayout({
      features: 20,
      hidden: [9, 7],
      labels: 11,
      activation: "tanh",
      loss: "softmax",
    });
    const rows = 6;
    const batch = {
      rows,
      offsets: Uint32Array.from({ length: rows + 1 }, (_, row) => 2 * row),
      indices: Uint32Array.from({ length: 2 * rows }, (_, i) => (i % 2) * 10 + (i >> 1)),
      values: new Float32Array(2 * rows).fill(0.7),
      labelOffsets: Uint32Array.from({ length: rows + 1 }, (_, row) => row),
      labels: Uint32Array.from({ length: rows }, (_, row) => row),
    };
    const adagrad = { name: "adagrad", epsilon: 1e-6 } as const;
    async function trained(cublas: string | false, isRule: boolean) {
      const kernels = createGpuKernels({ technology: "cuda", library, cublas, blockBytes: 0 });
      const network = createNetwork(kernels, layout, { maxRows: rows });
      const [weights, state] = [kernels.allocate(layout.length), kernels.allocate(layout.length)];
      const host = new Float32Array(layout.length);
      initialise(layout, host, 1);
      kernels.write(host, weights);
      for (let step = 1; step <= 10; step++) {
        const uploaded = kernels.upload(batch, step % 2 === 0 ? 0 : 1);
        await network.train(
          uploaded,
          rows,
          weights,
          isRule
            ? {
                kind: "rule",
                target: weights,
                scale: 1 / rows,
                rule: adagrad,
                learningRate: 0.05,
                step,
                state: [state],
              }
            : { kind: "add", target: weights, scale: -0.5 / rows },
        );
      }
      await kernels.read(weights, host);
      const work = kernels.workBytes();
      await kernels.dispose();
      return { host, work };
    }
    for (const isRule of [false, true]) {
      const [first, again] = [await trained(library, isRule), await trained(library, isRule)];
      expect(again.host).toEqual(first.host);
      expect(first.host).toBeAllClose((await trained(false, isRule)).host, { absolute: 1e-4 });
    }
  });

  test("is foretold in memory where it may be found", () => {
    const layout = parameterLayout({
      features: 9,
      hidden: [8],
      labels: 5,
      activation: "relu",
      loss: "softmax",
    });
    const limits = { maxRows: 4, maxNonZeros: 9, maxLabels: 4, optimizer: null };
    const of = (more: object) => gpuKernelsBytes(layout, { ...limits, ...more });
    const without = of({});
    expect(of({ technology: "opencl", options: { cublas: true } })).toBe(without);
    expect(of({ technology: "cuda", options: { library } })).toBe(without);
    expect(of({ technology: "cuda", options: { cublas: false } })).toBe(without);
    expect(of({ technology: "cuda", options: { cublas: library } })).toBe(without + 2 ** 25);
    const rule = { name: "adagrad", epsilon: 1 };
    const both = { technology: "cuda", options: { cublas: library }, optimizer: rule };
    expect(of(both)).toBeGreaterThan(without + 2 ** 25);
  });
});
