import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import { decide, storedConfig } from "./complete.js";
import { trainSchema, type TrainConfig } from "./schema.js";

type Values = Partial<TrainConfig> & Readonly<Record<string, unknown>>;

const config = (values: Values) => trainSchema.parse({ train: "train.txt", ...values });

test("decides by the optimizer what is left open", () => {
  expect(decide(config({ optimizer: "sgd" }))).toMatchObject({ scaleLearningRate: true });
  expect(decide(config({ optimizer: "adam" }))).toMatchObject({ scaleLearningRate: false });
  expect(decide(config({ optimizer: "sgd", learningRate: 2 })).learningRate).toBe(2);
});

test("fills in the algorithm's own defaults, and leaves the other algorithms' options alone", () => {
  expect(decide(config({ kappa: 0.5 }))).toMatchObject({
    batch: 128,
    batchMin: null,
    kappa: 0.5,
    merge: "normalized",
    momentum: 0,
    microBatch: null,
  });
  expect(decide(config({ algorithm: "crossbow" }))).toMatchObject({
    batch: 128,
    momentum: 0.9,
    kappa: null,
    merge: null,
  });
});

test.each([
  ["adaptive-sgd", "adam", 0.01],
  ["sync", "sgd", 4],
  ["async", "sgd", 2],
  ["crossbow", "sgd", 2],
  ["hogwild", "sgd", 0.1],
  ["hogbatch", "sgd", 0.1],
])("%s takes %s at %s where nothing is set", (algorithm, optimizer, learningRate) => {
  expect(decide(config({ algorithm }))).toMatchObject({ optimizer, learningRate });
});

test("an optimizer that is set brings its own learning rate", () => {
  const { learningRate } = decide(config({ algorithm: "hogwild", optimizer: "adam" }));
  expect(learningRate).toBe(0.01);
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

test.each<[string, Values]>([
  ["no data", { train: null }],
  ["sample and file", { sample: true }],
  ["validation and test", { validation: 0.1, test: "test.txt" }],
  ["an optimizer with a state where gradients are added", { algorithm: "sync", optimizer: "adam" }],
  ["published values that there are not", { algorithm: "sync", paper: true }],
  ["a cosine that rises", { schedule: "cosine", learningRate: 0.1, scheduleFinal: 0.2 }],
  ["a target without evaluation", { target: "P@1>=0.5" }],
  ["a target that is never looked at", { target: "P@1>=0.5", test: "t", evaluateEvery: "never" }],
  ["patience without evaluation", { patience: 3 }],
  ["patience that is never tried", { patience: 3, test: "t", evaluateEvery: "never" }],
  ["momentum of a uniform merge", { merge: "uniform", momentum: 0.9 }],
  [
    "names for labels that name themselves",
    { labelNames: "names.txt", labelValues: "names", format: "libsvm" },
  ],
])("refuses a contradiction: %s", (_, values) => {
  expect(() => decide(config(values))).toThrow(expect.objectContaining({ code: "CONFLICT" }));
});

test("what is stored repeats the run in a new folder, from any folder", () => {
  const before = decide(config({ out: "runs/x", force: true, test: "t.txt", batch: 64 }));
  const stored = storedConfig(before);
  expect(stored).toMatchObject({ out: null, force: false, batch: 64 });
  expect(isAbsolute(stored.train ?? "")).toBe(true);
  const after = decide(trainSchema.parse(stored));
  expect({ ...after, train: null, test: null }).toEqual({
    ...before,
    train: null,
    test: null,
    out: null,
    force: false,
  });
});
