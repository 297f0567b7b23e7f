/** A device whose uploads go beside its kernels: on the stand-in for CUDA's driver, which counts them. */
import { createGpuKernels } from "@heterosgd/gpu-kernels";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cudaStandIn, skipped } from "../../../test-support/gpu-drivers.js";
import { createDeviceHost } from "../src/device/device-host.js";
import { shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const rows = syntheticRows(60);

describe.skipIf(skipped.cuda !== "")(`a device on CUDA${skipped.cuda}`, () => {
  const { control, library } = cudaStandIn ?? (undefined as never);
  beforeEach(() => {
    control.reset();
    control.set("STREAMS", "copies-first");
  });
  afterEach(() => control.reset());

  /** What was uploaded while kernels waited, and how many steps and rankings they were. */
  async function uploadsDuring(work: (host: Awaited<ReturnType<typeof open>>) => Promise<unknown>) {
    const host = await open();
    const before = control.uploadsBesideKernels;
    await work(host);
    const uploads = control.uploadsBesideKernels - before;
    await host.close();
    expect(control.contexts).toBe(0);
    return uploads;
  }

  async function open() {
    const host = createDeviceHost({
      createKernels: () => createGpuKernels({ technology: "cuda", library }),
      now: () => 0,
      idle: () => undefined,
    });
    const { models } = await host.open({
      id: 0,
      kernels: { name: "cuda", index: 0, device: "", memory: null },
      speed: 1,
      shape,
      rule: null,
      train: rows.buffer,
      evaluation: rows.buffer,
      limits: { rows: 16, nonZeros: 200, labels: 50 },
      cutoffs: [1],
      replicas: 1,
      accumulators: 0,
    });
    await host.attach({ models, own: [0] });
    await host.addPermutation(Uint32Array.from({ length: 60 }, (_, row) => row));
    return host;
  }

  const step = (start: number, count: number, microBatchRows: number | null = null) => ({
    rows: [{ permutation: 0, start, count }],
    learningRate: 0.1,
    model: 0,
    microBatchRows,
  });

  // Of each step its sorted non-zeros in any case; of each but the first the batch.
  test("uploads the next step's batch while one runs", async () => {
    const steps = [step(0, 8), step(8, 16), step(24, 3), step(27, 16)];
    expect(await uploadsDuring((host) => host.steps(steps))).toBe(4 + 3);
    const apart = async (host: Awaited<ReturnType<typeof open>>) => {
      for (const one of steps) await host.step(one);
    };
    expect(await uploadsDuring(apart)).toBe(4);
  });

  test("uploads the next micro-batch while one runs", async () => {
    expect(await uploadsDuring((host) => host.step(step(0, 50, 10)))).toBe(5 + 4);
  });

  test("uploads the next rows to be evaluated while some are ranked", async () => {
    const part = { model: 0, evaluation: 1, start: 0, count: 60 };
    expect(await uploadsDuring((host) => host.evaluate(part))).toBe(3);
  });
});
