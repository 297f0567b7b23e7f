import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it } from "vitest";
import { createGpuKernels } from "../gpu-kernels.js";
import { compileTime } from "../../test/compile-time.js";
import { openclSupport } from "./devices.js";

const support = openclSupport();

/** Blocks of all classes, and of few; their logits kept between the passes, and computed twice. */
const divisions = [{}, { blockBytes: 0 }, { blockBytes: 50_000, keptBytes: 0 }] as const;

// One skipped suite where there is no device: the run says so.
const variants = support.available
  ? support.devices.flatMap(({ name, index }) =>
      divisions.map((division) => ({
        name: `${name}, ${JSON.stringify(division)}`,
        options: { technology: "opencl", index, ...division } as const,
      })),
    )
  : [{ name: `nothing: ${support.reason}`, options: { technology: "opencl" } as const }];

describe.skipIf(!support.available).each(variants)(
  "OpenCL on $name",
  compileTime,
  ({ options }) => {
    it.each(kernelsConformance(() => createGpuKernels(options)))("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  },
);
