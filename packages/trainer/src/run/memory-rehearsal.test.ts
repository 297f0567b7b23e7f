import { uniformMerge } from "@heterosgd/merge";
import {
  absSgd,
  adaptiveSgd,
  asyncSgd,
  crossbow,
  hogwild,
  type Policy,
} from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import { rehearse } from "./memory-rehearsal.js";

const common = { epochs: 2, schedule: { kind: "constant", rate: 1 } } as const;
const devices = [0, 1].map((id) => ({ id, maxBatchRows: 64 }));
const played = (policy: Policy) => rehearse({ policy, devices, rows: 1000, parameters: 10 });
const averaging = (momentum: number) =>
  adaptiveSgd({ ...common, merge: { ...uniformMerge(), momentum }, batch: { max: 8 } });

test("the models of a checkpoint are those that the algorithm saves", () => {
  expect(played(averaging(0)).saved).toEqual(["global"]);
  expect(played(averaging(0.9)).saved).toEqual(["global", "previous"]);
  expect(played(crossbow({ ...common, batch: 8 })).saved).toEqual(
    expect.arrayContaining(["global", "replica:0", "replica:1"]),
  );
});

test("the checkpoint is waited for, though it comes only after many commands", () => {
  const { saved } = rehearse({
    policy: absSgd({ ...common }),
    devices,
    rows: 100_000,
    parameters: 10,
  });
  expect(saved[0]).toBe("global");
});

test("devices that update what all share are told from those with replicas", () => {
  expect(played(averaging(0)).sharing).toEqual([]);
  expect(played(asyncSgd({ ...common, batch: 8 })).sharing).toEqual([]);
  expect(played(hogwild(common)).sharing).toEqual([0, 1]);
});

test("Hogwild trains row by row, others in batches", () => {
  expect(played(hogwild(common)).rowByRow).toEqual([0, 1]);
  expect(played(averaging(0)).rowByRow).toEqual([]);
  expect(played(asyncSgd({ ...common, batch: 8 })).rowByRow).toEqual([]);
});
