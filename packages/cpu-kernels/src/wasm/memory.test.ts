import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it, vi } from "vitest";
import { allocateInWasmMemory, createWasmMemory } from "./memory.js";
import { createWasmKernels } from "./wasm-kernels.js";

describe("memory for WebAssembly", () => {
  it("gives zeroed arrays on cache lines, which don't overlap", () => {
    const memory = createWasmMemory();
    const arrays = [1, 16, 0, 17, 100_000, 3].map((length, i) => {
      const array = allocateInWasmMemory(memory, length);
      expect(array.length).toBe(length);
      expect(array.byteOffset % 64).toBe(0);
      expect(array.every((value) => value === 0)).toBe(true);
      return array.fill(i + 1);
    });
    for (const [i, array] of arrays.entries()) {
      expect(array.every((value) => value === i + 1)).toBe(true);
    }
    // The header, and each array in whole lines.
    const next = allocateInWasmMemory(memory, 0);
    expect(next.byteOffset).toBe(64 + 64 + 64 + 0 + 128 + 400_000 + 64);
  });

  it("keeps arrays valid while it grows, for kernels made before and after", () => {
    const memory = createWasmMemory();
    const before = createWasmKernels({ memory });
    const small = before.allocate(4).fill(2);
    const large = allocateInWasmMemory(memory, 3_000_000);
    large.fill(5);
    expect(small.buffer).not.toBe(large.buffer);
    for (const kernels of [before, createWasmKernels({ memory })]) {
      const target = kernels.allocate(4);
      const source = kernels.view(large, large.length - 4, 4);
      kernels.blend(target, [
        { coefficient: 1, source: small },
        { coefficient: 10, source },
      ]);
      expect([...target]).toEqual([52, 52, 52, 52]);
      expect([...small]).toEqual([2, 2, 2, 2]);
    }
  });

  it("is recognised in a buffer that was posted", () => {
    const kernels = createWasmKernels();
    const array = kernels.allocate(5).fill(3);
    const posted = structuredClone(array);
    expect(posted.buffer).not.toBe(array.buffer);
    const target = kernels.allocate(5);
    kernels.blend(target, [{ coefficient: 2, source: posted }]);
    expect([...target]).toEqual([6, 6, 6, 6, 6]);
  });

  it("says so where there are no addresses for it", () => {
    const memory = vi.spyOn(WebAssembly, "Memory").mockImplementation(function () {
      throw new RangeError("WebAssembly.Memory(): could not allocate memory");
    });
    try {
      expect(createWasmMemory).toThrow(
        expect.objectContaining({
          code: "KERNEL_MEMORY",
          message: expect.stringContaining("ulimit"),
        }),
      );
    } finally {
      memory.mockRestore();
    }
  });

  it("refuses what exceeds 4 GiB and goes on with what is left", () => {
    const memory = createWasmMemory();
    const half = 2 ** 29;
    allocateInWasmMemory(memory, half);
    expect(() => allocateInWasmMemory(memory, half)).toThrow(
      /^2048 MiB can't be taken .* at most 4096 MiB, of which 2049 MiB are in use: use smaller batches/u,
    );
    const rest = allocateInWasmMemory(memory, half - 2 ** 15);
    rest[rest.length - 1] = 1;
    expect(rest.byteOffset + rest.byteLength).toBeGreaterThan(2 ** 32 - 2 ** 18);
  });
});

describe("beyond the first 2 GiB, where addresses are negative as signed numbers,", () => {
  const cases = kernelsConformance(() => {
    const memory = createWasmMemory();
    allocateInWasmMemory(memory, 2 ** 29 - 2 ** 14);
    return createWasmKernels({ memory });
  });
  it.each(cases.filter(({ name }) => /steps|micro|top k|blend/u.test(name)))(
    "$name",
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    },
  );
});
