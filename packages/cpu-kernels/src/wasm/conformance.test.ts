import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it } from "vitest";
import { createWasmKernels } from "./wasm-kernels.js";

const tolerance = 1e-5;

describe("the WebAssembly kernels agree with the reference:", () => {
  it.each(kernelsConformance(createWasmKernels, { tolerance }))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("so do they where some or all exponentials are computed twice:", () => {
  // Of a thousand classes, room for about two blocks of few rows, and for none.
  const cases = [0, 100_000].flatMap((keptBytes) =>
    kernelsConformance(() => createWasmKernels({ keptBytes }), { tolerance })
      .filter(({ name }) => /softmax/u.test(name))
      .map((one) => ({ ...one, keptBytes })),
  );
  it.each(cases)("$keptBytes bytes kept: $name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
