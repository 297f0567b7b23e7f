import { uniformMerge } from "@heterosgd/merge";
import { parameterLayout } from "@heterosgd/model";
import { adaptiveSgd, easgd, hogwild, type Policy } from "@heterosgd/scheduler";
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import { parseDevices } from "../device/device-spec.js";
import { estimateMemory, type EstimateOptions } from "./memory.js";

const builder = createDatasetBuilder({ features: 1000, labels: 50 });
for (let row = 0; row < 1000; row++) builder.addRow({ features: [[row, 1]], labels: [row % 50] });
const train = builder.finish(allocateShared);
const shape = {
  features: 1000,
  hidden: [64],
  labels: 50,
  activation: "relu",
  loss: "softmax",
} as const;
const model = parameterLayout(shape).length * 4;
const held = { now: 50_000_000, peak: 60_000_000 };
const adam = { name: "adam", beta1: 0.9, beta2: 0.999, epsilon: 1e-8 } as const;
const schedule = { kind: "constant", rate: 1 } as const;

const averaging = (momentum = 0): Policy =>
  adaptiveSgd({
    epochs: 1,
    schedule,
    merge: { ...uniformMerge(), momentum },
    batch: { max: 8 },
  });

const estimate = (devices: string, more: Partial<EstimateOptions> = {}) =>
  estimateMemory({
    train,
    evaluation: null,
    shape,
    rule: null,
    devices: parseDevices(devices),
    kernels: "plain",
    policy: averaging(),
    held,
    ...more,
  });

test("each device has a replica, and there are two global models, three with momentum", () => {
  const plain = estimate("cpu,cpu");
  expect(plain.devices.map(({ models }) => models)).toEqual([model, model]);
  expect(plain.globalModels).toBe(2 * model);
  expect(estimate("cpu", { policy: averaging(0.9) }).globalModels).toBe(3 * model);
});

test("an optimiser's state comes with every model", () => {
  const estimated = estimate("cpu", { rule: adam });
  expect(estimated.devices[0]!.models).toBe(3 * model);
  expect(estimated.globalModels).toBe(6 * model);
});

test("the total is the sum of its parts, or what was held while the data was read if that is more", () => {
  const { devices, training, reading, total, wasm, ...shared } = estimate("cpu,2*cpu@0.5");
  expect(shared.trainData).toBe(train.buffer.byteLength);
  expect(shared.process + shared.trainData).toBe(held.now);
  const ofDevices = devices.reduce((sum, { models, work }) => sum + models + work, 0);
  expect(training).toBe(Object.values(shared).reduce((sum, bytes) => sum + bytes, ofDevices));
  expect(reading).toBe(held.peak);
  expect(total).toBe(training);
  expect(wasm).toBeNull();
  const peak = 10 * training;
  expect(estimate("cpu", { held: { ...held, peak } }).total).toBe(peak);
});

test("checkpoints take copies of the models that the algorithm saves, and a thread", () => {
  const without = estimate("cpu,cpu", { rule: adam });
  const saves = estimate("cpu,cpu", { rule: adam, savesCheckpoints: true });
  expect(without.checkpoints).toBe(0);
  expect(saves.checkpoints).toBe(3 * model);
  expect(saves.threads).toBe(1.5 * without.threads);
  const policy = averaging(0.9);
  expect(estimate("cpu,cpu", { policy, savesCheckpoints: true }).checkpoints).toBe(2 * model);
  const elastic = easgd({ epochs: 1, batch: 4, schedule });
  const replicas = estimate("cpu,cpu", { policy: elastic, savesCheckpoints: true });
  expect(replicas.checkpoints).toBe(3 * model);
});

test("a simulation has no threads, but holds what is under way to shared models, and the result", () => {
  const simulated = estimate("cpu,cpu", { isSimulated: true });
  expect(simulated.threads).toBe(0);
  expect(simulated.simulation).toBe(model);
  const policy = hogwild({ epochs: 1, schedule });
  // A change for each of the devices, what the model was before it, and the result.
  expect(estimate("cpu,cpu", { policy, isSimulated: true }).simulation).toBe(4 * model);
  expect(estimate("cpu,cpu", { policy, isSimulated: false }).simulation).toBe(0);
});

test("models and work of kernels in WebAssembly lie in one memory, data and batches elsewhere", () => {
  const { devices, globalModels, wasm } = estimate("cpu,cpu", { rule: adam, kernels: "wasm" });
  const outside = globalModels + 6 * model + 2 * devices[0]!.work - wasm!;
  // Of each device, the batch: 8 rows with a feature and a label each.
  expect(outside).toBe(2 * 4 * (2 * 8 + 8 + 2 * 9));
});
