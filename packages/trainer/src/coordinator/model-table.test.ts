import { expect, test } from "vitest";
import { createModelTable, takeSharedModel } from "./model-table.js";

test("rotating names moves their meaning, never the slots", () => {
  const [a, b, c] = [takeSharedModel(1, 0), takeSharedModel(1, 0), takeSharedModel(1, 0)];
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
