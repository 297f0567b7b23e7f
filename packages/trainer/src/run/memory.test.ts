import { uniformMerge } from "@heterosgd/merge";
import { parameterLayout } from "@heterosgd/model";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { parseDevices } from "../device/device-spec.js";
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

const estimate = (devices: string, adam: boolean, momentum = 0) =>
  estimateMemory({
    train,
    evaluation: null,
    shape,
    rule: adam ? { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } : null,
    devices: parseDevices(devices),
    kernels: "plain",
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
  const { devices, total, ...shared } = estimate("cpu,2*cpu@0.5", true);
  expect(shared.trainData).toBe(train.buffer.byteLength);
  const ofDevices = devices.reduce((sum, { models, work }) => sum + models + work, 0);
  expect(total).toBe(Object.values(shared).reduce((sum, bytes) => sum + bytes, ofDevices));
});
