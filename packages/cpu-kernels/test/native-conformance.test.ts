import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, test } from "vitest";
import { createNativeKernels, nativeSupport } from "../src/index.js";
import { variants } from "./native-variants.js";

const support = nativeSupport();

/** A logit of hundreds is off by about 1 in bfloat16, and its probability by a factor. */
const losesToRounding = /^large logits/;

// A skipped test where there is no addon: the run says so, and fails if everything is required.
test.skipIf(!support.available)("the addon serves this processor", () => {
  expect(support).toMatchObject({ isas: expect.arrayContaining(["portable"]) });
});

describe.each(variants(support))("native kernels: $name", ({ options }) => {
  const inBfloat16 = options.bf16 === true;
  const cases = kernelsConformance(() => createNativeKernels(options), {
    // Numbers in bfloat16 have 8 bits, and fresh Adagrad makes much of a small gradient's error.
    tolerance: inBfloat16 ? 8e-2 : 1e-4,
    microBatchesInOrder: options.threads === 1,
  }).filter(({ name }) => !inBfloat16 || !losesToRounding.test(name));

  test.each(cases)("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
