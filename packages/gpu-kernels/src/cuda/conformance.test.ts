/** The kernels' arithmetic, compiled by g++ and run by the stand-in for CUDA's driver. */
import { kernelsConformance } from "@heterosgd/model/conformance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlOf, standIn } from "../../test/stand-in.js";
import { createGpuKernels, type GpuKernelsOptions } from "../gpu-kernels.js";

test.skipIf(!standIn.ok)("there is a C++ compiler to build the stand-in with", () => {
  expect(standIn).toMatchObject({ ok: true });
});

/** On two cores the whole suite takes half a minute; a machine that does other things takes longer. */
const timeout = 300_000;

/** Runs that differ most in what a missing barrier or wait would do, and in their blocks of classes. */
const variants: readonly {
  readonly order: string;
  readonly streams: string;
  /** Whether products are cuBLAS's, which the stand-in has, too. Default false. */
  readonly cublas?: boolean;
  readonly sizes: Pick<GpuKernelsOptions, "blockBytes" | "keptBytes">;
  readonly only: RegExp;
}[] = [
  { order: "backward", streams: "copies-first", sizes: {}, only: /./u },
  {
    order: "backward",
    streams: "copies-first",
    cublas: true,
    sizes: {},
    only: /^dense|^output|^topK|^training steps/u,
  },
  {
    order: "forward",
    streams: "lazy",
    cublas: true,
    sizes: { blockBytes: 0, keptBytes: 0 },
    only: /over 5 units|^training steps/u,
  },
  {
    order: "forward",
    streams: "lazy",
    sizes: { blockBytes: 0, keptBytes: 0 },
    only: /^a batch|over 5 units|^training steps/u,
  },
  {
    order: "shuffled",
    streams: "eager",
    sizes: { blockBytes: 2000, keptBytes: 20_000 },
    only: /^scatter with relu|over 5 units|^training steps/u,
  },
];

describe.skipIf(!standIn.ok).each(variants)(
  "CUDA kernels: items $order, streams $streams, cuBLAS $cublas, $sizes",
  ({ order, streams, cublas = false, sizes, only }) => {
    const library = standIn.ok ? standIn.path : "";
    const control = standIn.ok ? controlOf(library) : (undefined as never);
    beforeAll(() => {
      control.reset();
      control.set("ORDER", order);
      control.set("STREAMS", streams);
    });
    afterAll(() => control.reset());

    const cases = kernelsConformance(() =>
      createGpuKernels({ technology: "cuda", library, cublas: cublas && library, ...sizes }),
    ).filter(({ name }) => only.test(name));
    test.each(cases)("$name", { timeout }, async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    });
  },
);
