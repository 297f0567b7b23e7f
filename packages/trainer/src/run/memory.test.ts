import { uniformMerge } from "@heterosgd/merge";
import { parameterLayout } from "@heterosgd/model";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { parseDevices } from "../device/device-spec.js";
import type { KernelsChoice } from "./choose-kernels.js";
import { estimateMemory } from "./memory.js";

const builder = createDatasetBuilder({ features: 1000, labels: 50 });
for (let row = 0; row < 20; row++) builder.addRow({ features: [[row, 1]], labels: [row] });
const train = builder.finish(allocateShared);
const shape = {
  features: 1000,
  hidden: [64],
  labels: 50,
  activation: "relu",
  loss: "softmax",
} as const;
const model = parameterLayout(shape).length * 4;

const estimate = (
  devices: string,
  adam: boolean,
  momentum = 0,
  kernels = "plain" as KernelsChoice,
) =>
  estimateMemory({
    train,
    evaluation: null,
    shape,
    rule: adam ? { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } : null,
    devices: parseDevices(devices),
    kernels,
    policy: adaptiveSgd({
      epochs: 1,
      schedule: { kind: "constant", rate: 1 },
      merge: { ...uniformMerge(), momentum },
      batch: { max: 8 },
    }),
  });

test("each device has a replica, and there are two global models, three with momentum", () => {
  const plain = estimate("cpu,cpu", false);
  expect(plain.devices.map(({ models }) => models)).toEqual([model, model]);
  expect(plain.globalModels).toBe(2 * model);
  expect(estimate("cpu", false, 0.9).globalModels).toBe(3 * model);
});

test("an optimiser's state comes with every model", () => {
  const adam = estimate("cpu", true);
  expect(adam.devices[0]!.models).toBe(3 * model);
  expect(adam.globalModels).toBe(6 * model);
});

test("the total is the sum of its parts", () => {
  const { devices, total, wasm, ...shared } = estimate("cpu,2*cpu@0.5", true);
  expect(shared.trainData).toBe(train.buffer.byteLength);
  const ofDevices = devices.reduce((sum, { models, work }) => sum + models + work, 0);
  expect(total).toBe(Object.values(shared).reduce((sum, bytes) => sum + bytes, ofDevices));
  expect(wasm).toBeNull();
});

test("models and work of kernels in WebAssembly lie in one memory, data and batches elsewhere", () => {
  const { devices, globalModels, wasm } = estimate("cpu,cpu", true, 0, "wasm");
  const outside = globalModels + 6 * model + 2 * devices[0]!.work - wasm!;
  // Of each device, the batch: 8 rows with a feature and a label each.
  expect(outside).toBe(2 * 4 * (2 * 8 + 8 + 2 * 9));
});
