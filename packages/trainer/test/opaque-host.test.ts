/** What a device with memory of its own does about it when something fails. */
import { createPlainKernels, parameterLayout } from "@heterosgd/model";
import { expect, test } from "vitest";
import type { DeviceSetup } from "../src/device/api.js";
import { createDeviceHost } from "../src/device/device-host.js";
import { plainKernels } from "../src/device/device-kernels.js";
import { createOpaqueKernels, type OpaqueKernels } from "./opaque-kernels.js";
import { shape } from "./small-run.js";
import { syntheticRows } from "./synthetic.js";

const rows = syntheticRows(50);
const layout = parameterLayout(shape);
const setup: DeviceSetup = {
  id: 0,
  kernels: { ...plainKernels, memory: null },
  speed: 1,
  shape,
  rule: null,
  train: rows.buffer,
  evaluation: rows.buffer,
  limits: { rows: 16, nonZeros: 200, labels: 50 },
  cutoffs: [1],
  replicas: 1,
  accumulators: 0,
};

function hostOver(kernels: OpaqueKernels) {
  return createDeviceHost({ createKernels: () => kernels, now: () => 0, idle: () => undefined });
}

test("gives its memory back when an operation fails, and says what failed", async () => {
  const kernels = createOpaqueKernels(createPlainKernels());
  const lost = Object.assign(new Error("the device is gone"), { code: "GPU_LOST" });
  const host = hostOver({
    ...kernels,
    scatter() {
      throw lost;
    },
  });
  const { models } = await host.open(setup);
  await host.attach({ models, own: [0] });
  await host.addPermutation(Uint32Array.from({ length: 50 }, (_, row) => row));
  const step = { rows: [{ permutation: 0, start: 0, count: 8 }], learningRate: 1, model: 0 };
  await expect(host.step({ ...step, microBatchRows: null })).rejects.toBe(lost);
  expect(kernels.isDisposed()).toBe(true);
  await expect(host.pull(0)).rejects.toThrow("not open");
  expect(await host.close()).toBeNull();
});

test("gives its memory back when there is not enough of it to open", async () => {
  const kernels = createOpaqueKernels(createPlainKernels());
  const full = Object.assign(new Error("no room"), { code: "GPU_MEMORY" });
  let left = 4;
  const host = hostOver({
    ...kernels,
    allocate(length) {
      if (left-- === 0) throw full;
      return kernels.allocate(length);
    },
  });
  await expect(host.open(setup)).rejects.toBe(full);
  expect(kernels.isDisposed()).toBe(true);
});

test("tells what failed first where its memory can't be given back either", async () => {
  const kernels = createOpaqueKernels(createPlainKernels());
  const host = hostOver({
    ...kernels,
    allocate() {
      throw new Error("no room");
    },
    dispose() {
      throw new Error("the context is gone");
    },
  });
  await expect(host.open(setup)).rejects.toThrow("no room");
});

test("takes the memory that a lost device showed to others, cleared", async () => {
  const first = hostOver(createOpaqueKernels(createPlainKernels()));
  const { models: spare } = await first.open(setup);
  spare[0]!.parameters.fill(7);
  spare[0]!.updates[0] = 7;
  const second = hostOver(createOpaqueKernels(createPlainKernels()));
  const { models } = await second.open({ ...setup, spare });
  expect(models[0]!.parameters).toBe(spare[0]!.parameters);
  expect(models[0]!.parameters.every((value) => value === 0)).toBe(true);
  expect(models[0]!.updates[0]).toBe(0);
});

test("evaluates the model as it is at each evaluation's beginning", async () => {
  const kernels = createOpaqueKernels(createPlainKernels());
  let writes = 0;
  const host = hostOver({
    ...kernels,
    write(source, target) {
      writes++;
      kernels.write(source, target);
    },
  });
  await host.open(setup);
  const global = {
    parameters: new Float32Array(layout.length),
    state: [],
    updates: new Int32Array(1),
  };
  await host.attach({ models: [global], own: [] });
  const hits = async (evaluation: number, start: number) => {
    const { sums } = await host.evaluate({ model: 0, evaluation, start, count: 25 });
    return sums.hits[0];
  };
  const before = [await hits(1, 0), await hits(1, 25)];
  expect(writes).toBe(1);
  // Another class is always the answer.
  global.parameters[layout.layers.at(-1)!.bias.offset + 9] = 1;
  expect([await hits(1, 0), await hits(1, 25)]).toEqual(before);
  expect([await hits(2, 0), await hits(2, 25)]).not.toEqual(before);
  expect(writes).toBe(2);
});

test("uploads the rows of the next step while one is computed, in one call and over several", async () => {
  const kernels = createOpaqueKernels(createPlainKernels());
  const log: string[] = [];
  const host = hostOver({
    ...kernels,
    upload(batch, slot) {
      log.push(`upload ${batch.rows} to ${slot}`);
      return kernels.upload(batch, slot);
    },
    async read(source, target) {
      log.push("begin");
      await kernels.read(source, target);
      log.push("end");
    },
  });
  const { models } = await host.open(setup);
  await host.attach({ models, own: [0] });
  await host.addPermutation(Uint32Array.from({ length: 50 }, (_, row) => row));
  const step = (start: number, count: number, microBatchRows: number | null = null) => ({
    rows: [{ permutation: 0, start, count }],
    learningRate: 1,
    model: 0,
    microBatchRows,
  });
  await Promise.all([
    host.steps([step(0, 3), step(3, 4)]),
    host.step(step(7, 10, 5)),
    host.pull(0),
  ]);
  const expected = [
    "upload 3 to 0",
    "begin",
    "upload 4 to 1",
    "end",
    "begin",
    "upload 5 to 0",
    "end",
  ];
  expect(log).toEqual([...expected, "begin", "upload 5 to 1", "end", "begin", "end"]);

  // Rows of a permutation that is not known yet are left until it is.
  log.length = 0;
  const later = { ...step(0, 6), rows: [{ permutation: 1, start: 0, count: 6 }] };
  const first = host.step(step(0, 2));
  const added = host.addPermutation(Uint32Array.from({ length: 50 }, (_, row) => 49 - row));
  await Promise.all([first, added, host.step(later)]);
  expect(log).toEqual(["upload 2 to 1", "begin", "end", "upload 6 to 1", "begin", "end"]);
});
