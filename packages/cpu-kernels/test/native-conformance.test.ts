import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, test } from "vitest";
import { createNativeKernels, nativeSupport } from "../src/index.js";
import { variants } from "./native-variants.js";

const support = nativeSupport();
const required = process.env["REQUIRE"] === "all";

describe("the native kernels pass the conformance suite", () => {
  test.skipIf(!support.available && !required)("the addon is there", () => {
    if (!support.available) throw new Error(support.reason);
  });

  if (!support.available) return;
  for (const { name, options } of variants(support)) {
    describe(name, () => {
      const cases = kernelsConformance(() => createNativeKernels(options), {
        // bfloat16 has 8 bits of precision.
        tolerance: options.bf16 === true ? 2e-2 : 1e-4,
        microBatchesInOrder: options.threads === 1,
      });
      for (const { name: title, run } of cases) test(title, run);
    });
  }
});
