import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, test } from "vitest";
import { createNativeKernels, nativeSupport } from "../src/index.js";
import { variants } from "./native-variants.js";

const support = nativeSupport();

// A skipped test where there is no addon: the run says so, and fails if everything is required.
test.skipIf(!support.available)("the addon serves this processor", () => {
  expect(support).toMatchObject({ isas: expect.arrayContaining(["portable"]) });
});

describe.each(variants(support))("native kernels: $name", ({ options }) => {
  const cases = kernelsConformance(() => createNativeKernels(options), {
    // Numbers in bfloat16 have 8 bits.
    tolerance: options.bf16 === true ? 2e-2 : 1e-4,
    microBatchesInOrder: options.threads === 1,
  });

  test.each(cases)("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
