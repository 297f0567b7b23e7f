import { expect, test } from "vitest";
import { decide } from "./complete.js";
import { flagLayer, type Layer } from "./resolve.js";
import { identityOf, resumedConfig } from "./resumed.js";
import { trainSchema } from "./schema.js";

const before = decide(trainSchema.parse({ train: "/data/train.txt", hidden: [8], epochs: 4 }));
const stored: Layer = { values: before, nameOf: (key) => `"${key}" in config.json` };
const resumed = (flags: Record<string, string | boolean>, file: Record<string, unknown> = {}) =>
  resumedConfig(stored, [
    flagLayer(trainSchema, flags),
    { values: file, nameOf: (key) => `"${key}" in more.json` },
  ]);

test("a run goes on as it was, but for what is set anew, flags first", () => {
  expect(resumed({})).toEqual(before);
  expect(resumed({ learningRate: "0.5", devices: "cpu" }, { learningRate: 0.1, keep: 7 })).toEqual({
    ...before,
    learningRate: 0.5,
    devices: "cpu",
    keep: 7,
  });
});

test("a fall of the rate that was to last as long as the run still does", () => {
  expect(before).toMatchObject({ schedule: "cosine", scheduleEpochs: 4 });
  expect(resumed({ epochs: "8" })).toMatchObject({ epochs: 8, scheduleEpochs: 8 });
  expect(resumed({ epochs: "8", scheduleEpochs: "6" })).toMatchObject({ scheduleEpochs: 6 });
});

test("what stays is no error where it is told again, or left to be decided as it was", () => {
  const file = { hidden: [8], optimizer: null, kappa: null, train: null, cutoffs: [5, 3, 1] };
  expect(resumed({ seed: "1", train: "elsewhere/train.txt" }, file)).toEqual({
    ...before,
    train: "elsewhere/train.txt",
  });
});

test.each([
  [{ hidden: "16" }, {}, /^--hidden is \[16\], but the run that is to go on has \[8\]$/],
  [{ algorithm: "sync" }, {}, /^--algorithm is "sync", .* has "adaptive-sgd"$/],
  [{}, { seed: 2 }, /^"seed" in more\.json is 2, .* has 1$/],
  [{}, { validation: 0.5 }, /^"validation" in more\.json is 0\.5, .* has null$/],
  [{ kappa: "0.1" }, {}, /^--kappa is 0\.1, .* has 0\.75$/],
])("what may not be another is named: %o %o", (flags, file, message) => {
  expect(() => resumed(flags as Record<string, string>, file)).toThrow(message);
});

test("a run's identity has neither devices nor length, nor where the data lies", () => {
  const other = { epochs: 9, devices: "cpu", train: "there", learningRate: 3, out: "x" };
  expect(identityOf({ ...before, ...other })).toEqual(identityOf(before));
  expect(identityOf({ ...before, hidden: [9] })).not.toEqual(identityOf(before));
});
