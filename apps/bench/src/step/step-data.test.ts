import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initialise } from "@heterosgd/model";
import { createRandom } from "@heterosgd/sparse";
import { afterEach, beforeEach, expect, test } from "vitest";
import { madeUpBatch } from "../made-up-batches.js";
import { readStepData, writeStepData } from "./step-data.js";

const shape = { features: 300, labels: 21, hidden: 5, rows: 7, nonZeros: 10, batches: 3 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "step-data-"));
  writeStepData(folder, shape);
});
afterEach(() => rmSync(folder, { recursive: true }));

test("what is written is read again: parameters and batches", () => {
  const { layout, batches, readParameters } = readStepData(folder);
  const [read, wanted] = [new Float32Array(layout.length), new Float32Array(layout.length)];
  readParameters(read);
  initialise(layout, wanted, 1);
  expect(read).toEqual(wanted);
  expect(batches.length).toBe(3);
  const one = { rows: 7, features: 300, classes: 21, nonZeros: 10, draw: "log-uniform" } as const;
  expect(batches[2]).toEqual(madeUpBatch(createRandom(1, 2), one));
});

test("others find every tensor by its byte offset", () => {
  const plan = JSON.parse(readFileSync(join(folder, "step.json"), "utf8")) as {
    parameters: Record<string, { offset: number; length: number }>;
  };
  const bytes = readFileSync(join(folder, "step.bin"));
  const { layout, readParameters } = readStepData(folder);
  const flat = new Float32Array(layout.length);
  readParameters(flat);
  const tensor = layout.tensors.find(({ name }) => name === "output.weight")!;
  const place = plan.parameters["output.weight"]!;
  expect(place.length).toBe(21 * 5);
  for (const i of [0, 1, 104]) {
    expect(bytes.readFloatLE(place.offset + 4 * i)).toBe(flat[tensor.offset + i]);
  }
});

test("a file that is too short is refused", () => {
  truncateSync(join(folder, "step.bin"), 100);
  expect(() => readStepData(folder)).toThrow("ends too early");
});
