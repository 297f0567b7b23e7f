/** The kernels' arithmetic, compiled by g++ and run by the stand-in for CUDA's driver. */
import { kernelsConformance } from "@heterosgd/model/conformance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlOf, standIn } from "../../test/stand-in.js";
import { createGpuKernels, type GpuKernelsOptions } from "../gpu-kernels.js";

test.skipIf(!standIn.ok)("there is a C++ compiler to build the stand-in with", () => {
  expect(standIn).toMatchObject({ ok: true });
});

/** What finds a missing barrier, a missing wait, and groups that count on each other. */
const variants = [
  { order: "forward", streams: "lazy", sizes: {} },
  { order: "backward", streams: "copies-first", sizes: { blockBytes: 0, keptBytes: 0 } },
  { order: "shuffled", streams: "eager", sizes: { blockBytes: 2000, keptBytes: 20_000 } },
] as const satisfies readonly {
  readonly order: string;
  readonly streams: string;
  readonly sizes: Partial<GpuKernelsOptions>;
}[];

describe.skipIf(!standIn.ok).each(variants)(
  "CUDA kernels: items $order, streams $streams, $sizes",
  ({ order, streams, sizes }) => {
    const library = standIn.ok ? standIn.path : "";
    const control = standIn.ok ? controlOf(library) : (undefined as never);
    beforeAll(() => {
      control.reset();
      control.set("ORDER", order);
      control.set("STREAMS", streams);
    });
    afterAll(() => control.reset());

    const cases = kernelsConformance(() =>
      createGpuKernels({ technology: "cuda", library, ...sizes }),
    );
    test.each(cases)("$name", async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  },
);
