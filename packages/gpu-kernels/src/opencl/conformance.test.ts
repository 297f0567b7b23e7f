import { kernelsConformance } from "@heterosgd/model/conformance";
import { describe, expect, it } from "vitest";
import { createGpuKernels } from "../gpu-kernels.js";
import { openclSupport } from "./devices.js";

const support = openclSupport();
const devices = support.available ? support.devices : [];

describe.skipIf(!support.available).each(devices.length > 0 ? devices : [{ index: 0, name: "" }])(
  "OpenCL on $name",
  ({ index }) => {
    const cases = kernelsConformance(() => createGpuKernels({ technology: "opencl", index }));
    it.each(cases)("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  },
);
