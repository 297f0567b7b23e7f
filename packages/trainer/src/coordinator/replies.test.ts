import { createMetrics, parameterLayout } from "@heterosgd/model";
import { expect, test } from "vitest";
import type { StepReply } from "../device/api.js";
import { checkOpened, repliesOf } from "./replies.js";

const replies = repliesOf("device 3 (cpu)");
const usage = { training: 1, merging: 0, evaluating: 0.5, waiting: 2 };
const step: StepReply = { nonZeros: 12, seconds: 0.25, loss: 3, usage };

test("proper answers pass, and so does a loss that is not finite", () => {
  const steps = [step, { ...step, loss: NaN }, { ...step, loss: Infinity }];
  expect(replies.steps(steps, 3)).toBe(steps);
  expect(replies.push({ norm: 2, usage }, true)).toEqual({ norm: 2, usage });
  expect(replies.push({ norm: null, usage }, false)).toEqual({ norm: null, usage });
  const sums = { ...createMetrics([1, 3]), rows: 5 };
  expect(replies.evaluate({ sums, usage }, 5).sums).toBe(sums);
  expect(replies.usage(usage)).toBe(usage);
});

test.each([
  ["too few answers", [step], 2, "1 answers to 2 batches"],
  ["no list", step, 1, "0 answers to 1 batches"],
  ["half a non-zero", [{ ...step, nonZeros: 0.5 }], 1, "a batch of 0.5 non-zeros"],
  ["fewer than none", [{ ...step, nonZeros: -1 }], 1, "a batch of -1 non-zeros"],
  ["no time", [{ ...step, seconds: NaN }], 1, "a batch that took NaN seconds"],
  ["no loss", [{ ...step, loss: undefined }], 1, "a loss that is undefined"],
  ["endless use", [{ ...step, usage: { ...usage, waiting: Infinity } }], 1, "Infinity seconds"],
  ["no use", [{ ...step, usage: undefined }], 1, "undefined seconds of training"],
])("%s is no answer to batches", (_, answer, asked, message) => {
  expect(() => replies.steps(answer as readonly StepReply[], asked)).toThrow(
    expect.objectContaining({
      code: "DEVICE_FAILED",
      message: expect.stringContaining(`device 3 (cpu) failed: it answered with ${message}`),
    }),
  );
});

test("a norm must be there where it was asked for, and only there", () => {
  expect(() => replies.push({ norm: null, usage }, true)).toThrow("a norm that is null");
  expect(() => replies.push({ norm: 1, usage }, false)).toThrow("a norm that is 1");
});

test("an evaluation is of the rows asked for, with finite sums", () => {
  const sums = { ...createMetrics([1]), rows: 4 };
  expect(() => replies.evaluate({ sums, usage }, 5)).toThrow("of 4 rows, asked for 5");
  const broken = { ...sums, ndcg: [NaN] };
  expect(() => replies.evaluate({ sums: broken, usage }, 4)).toThrow(
    "a sum of metrics that is NaN",
  );
  const short = { ...sums, hits: [] };
  expect(() => replies.evaluate({ sums: short, usage }, 4)).toThrow("0 sums of a metric");
});

test("a device opens with the models that it was asked to hold", () => {
  const shape = {
    features: 3,
    hidden: [2],
    labels: 2,
    activation: "relu",
    loss: "softmax",
  } as const;
  const { length } = parameterLayout(shape);
  const model = (elements: number, states: number) => ({
    parameters: new Float32Array(elements),
    state: Array.from({ length: states }, () => new Float32Array(elements)),
    updates: new Int32Array(1),
  });
  const asked = { replicas: 1, accumulators: 1 };
  const check = (...models: ReturnType<typeof model>[]) =>
    checkOpened("device 3", { kernels: "plain", models }, asked, shape, 1);
  check(model(length, 1), model(length, 0));
  expect(() => check(model(length, 1))).toThrow("1 models, asked for 2");
  expect(() => check(model(length, 0), model(length, 0))).toThrow("0 states, asked for 1");
  expect(() => check(model(length, 1), model(length - 1, 0))).toThrow(
    `a model of ${length - 1} elements, asked for ${length}`,
  );
});
