import type { ModelName } from "@heterosgd/scheduler";
import { expect, test } from "vitest";
import type { ModelMemory } from "../device/api.js";
import { createLostModels } from "./lost-models.js";
import { createModelTable } from "./model-table.js";

const model = (): ModelMemory => ({
  parameters: new Float32Array(1),
  state: [],
  updates: new Int32Array(1),
});
const names: readonly ModelName[] = [
  "global",
  "replica:0",
  "gradient:0:0",
  "gradient:0:1",
  "replica:1",
];
const withAccumulators = { replicas: 1, accumulators: 2 };

function table() {
  const models = createModelTable(new Map(names.map((name) => [name, model()])));
  return { models, lost: createLostModels(models) };
}

test("memory is had once, in the order in which a device holds it, when the loss has been heard of", () => {
  const { models, lost } = table();
  const own = names.slice(1, 4).map((name) => models.memory(name));
  expect(lost.release(withAccumulators)).toBeUndefined();
  lost.heard(0);
  expect(lost.release(withAccumulators)).toEqual(own);
  expect(models.has("replica:0")).toBe(false);
  expect(models.slots).toHaveLength(names.length);
  expect(lost.release(withAccumulators)).toBeUndefined();
});

test("memory that is still to be read is not had before all have let it go", () => {
  const { lost } = table();
  const letGo = [lost.hold(["global", "gradient:0:1"]), lost.hold(["gradient:0:1"])];
  lost.heard(0);
  for (const done of letGo) {
    expect(lost.release(withAccumulators)).toBeUndefined();
    done();
  }
  expect(lost.release(withAccumulators)).toHaveLength(3);
});

test("a device gets memory of one that held as many models of each kind", () => {
  const { models, lost } = table();
  const replica = models.memory("replica:1");
  lost.heard(0);
  expect(lost.release({ replicas: 1, accumulators: 0 })).toBeUndefined();
  lost.heard(1);
  expect(lost.release({ replicas: 1, accumulators: 0 })).toEqual([replica]);
});
