import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import { complete, decide, storedConfig } from "./complete.js";
import { trainSchema, type TrainConfig } from "./schema.js";

const config = (values: Partial<TrainConfig>) =>
  trainSchema.parse({ train: "train.txt", ...values });

test("decides by the optimizer what is left open", () => {
  expect(decide(config({ optimizer: "sgd" })).scaleLearningRate).toBe(true);
  expect(decide(config({ optimizer: "adam" }))).toMatchObject({ scaleLearningRate: false });
  expect(decide(config({ optimizer: "sgd", learningRate: 2 })).learningRate).toBe(2);
});

test("decides sizes by the largest batch", () => {
  expect(decide(config({ batch: 256 }))).toMatchObject({
    batchMin: 32,
    batchReference: 256,
    warmupBatch: 32,
  });
  expect(decide(config({ batch: 256, batchScaling: "proportional" })).beta).toBe(16);
  expect(decide(config({ batch: 2 })).batchMin).toBe(1);
});

test("a mega-batch is a hundred batches, or a quarter of the rows if that is less", () => {
  const decided = decide(config({ batch: 10 }));
  expect(complete(decided, 100_000).megaBatch).toBe(1000);
  expect(complete(decided, 1001).megaBatch).toBe(251);
  expect(complete(decide(config({ megaBatch: 7 })), 1001).megaBatch).toBe(7);
});

test("cut-offs are put in order", () => {
  expect(decide(config({ cutoffs: [5, 1, 5] })).cutoffs).toEqual([1, 5]);
});

test("a cosine falls over the whole run unless told otherwise", () => {
  expect(decide(config({ schedule: "cosine", epochs: 7 })).scheduleEpochs).toBe(7);
  expect(decide(config({ schedule: "step" })).scheduleEpochs).toBe(1);
});

test("labels of libsvm files are ids where names are given, else names", () => {
  expect(decide(config({})).labelValues).toBe("names");
  expect(decide(config({ labelNames: "names.txt" })).labelValues).toBe("ids");
});

test.each<[string, Partial<TrainConfig>]>([
  ["no data", { train: null }],
  ["sample and file", { sample: true }],
  ["validation and test", { validation: 0.1, test: "test.txt" }],
  ["smallest batch above the largest", { batch: 8, batchMin: 9 }],
  ["warm-up above the largest batch", { batch: 8, warmupBatch: 9 }],
  ["a cosine that rises", { schedule: "cosine", learningRate: 0.1, scheduleFinal: 0.2 }],
  ["a target without evaluation", { target: "P@1>=0.5" }],
  ["a target that is never looked at", { target: "P@1>=0.5", test: "t", evaluateEvery: "never" }],
  ["momentum of a uniform merge", { merge: "uniform", momentum: 0.9 }],
  [
    "names for labels that name themselves",
    { labelNames: "names.txt", labelValues: "names", format: "libsvm" },
  ],
])("refuses a contradiction: %s", (_, values) => {
  expect(() => decide(config(values))).toThrow(expect.objectContaining({ code: "CONFLICT" }));
});

test("what is stored repeats the run in a new folder, from any folder", () => {
  const before = complete(decide(config({ out: "runs/x", force: true, test: "t.txt" })), 1000);
  const stored = storedConfig(before);
  expect(stored).toMatchObject({ out: null, force: false });
  expect(isAbsolute(stored.train ?? "")).toBe(true);
  const after = complete(decide(trainSchema.parse(stored)), 1000);
  expect({ ...after, train: null, test: null }).toEqual({
    ...before,
    train: null,
    test: null,
    out: null,
    force: false,
  });
});
