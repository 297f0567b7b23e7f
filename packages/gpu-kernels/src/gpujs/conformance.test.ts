import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it } from "vitest";
import { openShared, skipped } from "../../test/gpujs.js";

const modes = ["headlessgl", "webasm", "cpu"] as const;

describe.each(modes)("gpu.js on %s", (mode) => {
  const reason = skipped[mode];
  const cases = kernelsConformance(() => openShared(mode)).map(({ name, run }) => ({
    name: name + reason,
    run,
  }));
  it.skipIf(reason !== "").each(cases)("$name", { timeout: 300_000 }, async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
