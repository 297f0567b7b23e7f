import { normalizedMerge } from "@heterosgd/merge";
import { parameterLayout } from "@heterosgd/model";
import { adaptiveSgd } from "@heterosgd/scheduler";
import { allocateShared, createDatasetBuilder } from "@heterosgd/sparse";
import { expect, test } from "vitest";
import type { CheckpointRecord } from "../checkpoint/record.js";
import { hasWorkLeft } from "./resume.js";

const shape = { features: 2, hidden: [2], labels: 2, activation: "relu", loss: "softmax" } as const;
const rows = createDatasetBuilder({ features: 2, labels: 2 });
rows.addRow({ features: [[0, 1]], labels: [0] });
const train = rows.finish(allocateShared);

test("a run that ended as it had lost its last device has work left", () => {
  const policy = adaptiveSgd({
    epochs: 1,
    schedule: { kind: "constant", rate: 0.1 },
    merge: normalizedMerge(),
  });
  const device = { id: 0, maxBatchRows: 8 };
  const parameters = parameterLayout(shape).parameterCount;
  const [begun] = policy.start({ devices: [device], rows: train.rows, parameters });
  const [state, commands] = policy.next(begun, { type: "lost", device: 0, reason: "" });
  expect(commands).toMatchObject([{ type: "stop", reason: "devices" }]);
  const record = { policy: state, metrics: null } as unknown as CheckpointRecord;
  expect(hasWorkLeft({ path: "step-0", record }, { policy, train, shape })).toBe(true);
});
