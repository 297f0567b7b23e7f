import { expect, test } from "vitest";
import { plainKernels } from "../device/device-kernels.js";
import { createKernelMemory, takeSharedModel } from "../device/kernel-memory.js";
import { createModelTable } from "./model-table.js";

const memory = createKernelMemory([plainKernels]);
const model = () => takeSharedModel(memory, 1, null);

test("rotating names moves their meaning, never the slots", () => {
  const [a, b, c] = [model(), model(), model()];
  const table = createModelTable(
    new Map([
      ["previous", a],
      ["global", b],
      ["next", c],
    ]),
  );
  table.rotate(["previous", "global", "next"]);
  expect(table.memory("previous")).toBe(b);
  expect(table.memory("global")).toBe(c);
  expect(table.memory("next")).toBe(a);
  expect(table.slots).toEqual([a, b, c]);
});

test("a model that the policy did not ask for is named in the error", () => {
  expect(() => createModelTable(new Map()).slot("replica:3")).toThrow("replica:3");
});
