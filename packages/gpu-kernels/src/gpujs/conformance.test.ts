import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it } from "vitest";
import { modes, openShared } from "../../test/gpujs.js";

describe.each(modes)("gpu.js on $title", ({ mode, isAbsent }) => {
  const cases = kernelsConformance(() => openShared(mode));
  it.skipIf(isAbsent).each(cases)("$name", { timeout: 300_000 }, async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
