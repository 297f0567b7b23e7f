import { expect, test } from "vitest";
import { data } from "../test/tiny-data.js";
import { planLines } from "./commands/train-plan.js";
import { decide } from "./config/complete.js";
import { algorithmNames } from "./config/own-options.js";
import { trainSchema, type TrainConfig } from "./config/schema.js";
import { checkEarly, devicesFor, planRun } from "./plan.js";

const decided = (values: Partial<TrainConfig> & Readonly<Record<string, unknown>>) =>
  decide(trainSchema.parse({ train: "t", devices: "2*cpu", hidden: [4], ...values }));

test("a plan has every device by name and the network's shape", () => {
  const plan = planRun(decided({ batch: 4 }), data);
  expect(plan.config).toMatchObject({ devices: "cpu,cpu", batch: 4 });
  expect(plan.shape).toMatchObject({ features: 8, hidden: [4], labels: 3 });
  expect(plan.parameters).toBe(8 * 4 + 4 + 4 * 3 + 3);
  expect(plan.options.policy.maxBatchRows).toBe(4);
});

test("the target's cut-off is computed though nobody asked for it", () => {
  const plan = planRun(decided({ test: "t", target: "P@2>=0.9", cutoffs: [1, 3] }), data);
  expect(plan.options.cutoffs).toEqual([1, 2, 3]);
});

test("a network beyond what an array holds is refused", () => {
  const config = decided({ hidden: [4_000_000_000, 4] });
  expect(() => planRun(config, data)).toThrow(
    expect.objectContaining({
      code: "CONFLICT",
      message: expect.stringMatching(/ parameters/) as string,
    }),
  );
});

test("a target beyond the labels is refused", () => {
  const config = decided({ test: "t", target: "P@4>=0.9" });
  expect(() => planRun(config, data)).toThrow(/only 3 labels/);
});

test("a plan's lines name the algorithm's own options that are settled", () => {
  const algorithmOf = (values: Parameters<typeof decided>[0]) =>
    planLines(planRun(decided(values), data), 2 ** 30, null).find((line) =>
      line.startsWith("algorithm"),
    );
  const adaptive = algorithmOf({ momentum: 0.9 });
  expect(adaptive).toMatch(/adaptive-sgd: 10 epochs, adam at 0\.01, seed 1; batch 128, /);
  expect(adaptive).toContain(", momentum 0.9");
  expect(adaptive).not.toContain("batch-min");
  expect(algorithmOf({ algorithm: "ssp", staleness: 2 })).toMatch(
    /ssp: 10 epochs, sgd at 2, seed 1; batch 128, staleness 2$/,
  );
});

test("every algorithm makes a policy, with its defaults", () => {
  for (const algorithm of algorithmNames) {
    const { policy } = planRun(decided({ algorithm }), data).options;
    expect(policy.name).toBe(algorithm);
  }
});

test("patience goes to the run", () => {
  const plan = planRun(decided({ test: "t", patience: 4 }), data);
  expect(plan.options.patience).toEqual({ evaluations: 4 });
});

test("a value out of the algorithm's own range is refused before data is read", () => {
  expect(() => checkEarly(decided({ batch: 8, batchMin: 9 }))).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION" }),
  );
  // It is within the range of another algorithm's option of that name.
  expect(() => checkEarly(decided({ algorithm: "adaptive-hogbatch", beta: 16 }))).toThrow(/beta/);
});

test("devices that the algorithm has no use for are refused before data is read", () => {
  const devices = "cpu,cpu:role=accelerator";
  expect(() => checkEarly(decided({ algorithm: "hogwild", devices }))).toThrow(
    expect.objectContaining({ code: "INVALID_SETUP" }),
  );
  expect(() => checkEarly(decided({ algorithm: "hogbatch", devices }))).not.toThrow();
});

test("durations become seconds", () => {
  expect(planRun(decided({ maxTime: "2m" }), data).options.maxSeconds).toBe(120);
});

test("what needs no data is checked before any is read", () => {
  expect(() => checkEarly(decided({ devices: "tpu" }))).toThrow(
    expect.objectContaining({ code: "DEVICE_SPEC" }),
  );
  expect(() => checkEarly(decided({ test: "t", target: "accuracy" }))).toThrow(
    expect.objectContaining({ code: "BAD_OPTION" }),
  );
  expect(() => checkEarly(decided({}))).not.toThrow();
});

test("automatic devices are at least one", () => {
  expect(devicesFor("auto").length).toBeGreaterThanOrEqual(1);
  expect(devicesFor("cpu,cpu@0.5")).toHaveLength(2);
});
