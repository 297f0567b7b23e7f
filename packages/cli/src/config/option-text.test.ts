import { expect, test } from "vitest";
import * as z from "zod";
import { flagName } from "./option-flags.js";
import {
  choicesOf,
  defaultOf,
  expectationOf,
  isSwitch,
  lookOf,
  optionsOf,
  valueFromText,
  variableName,
} from "./option-text.js";
import { evalSchema, inspectSchema, predictSchema, trainSchema } from "./schema.js";

const { shape } = trainSchema;
const typeOf = (key: string) => new Map(optionsOf(trainSchema)).get(key)!;

test("names follow from the key", () => {
  expect(flagName("scaleLearningRate")).toBe("scale-learning-rate");
  expect(variableName("scaleLearningRate")).toBe("HETEROSGD_SCALE_LEARNING_RATE");
});

test.each([
  [shape.epochs, "a whole number of at least 1"],
  [shape.initialScale, "a number above 0"],
  [shape.learningRate, "a number above 0 and at most 3.4e38, float32's largest"],
  [shape.validation, "a number above 0 and below 1"],
  [typeOf("momentum"), "a number of at least 0 and below 1"],
  [typeOf("perturbation"), "a number from 0 to 1"],
  [typeOf("kappa"), "a number above 0 and at most 1"],
  [shape.indexBase, "0 or 1"],
  [shape.optimizer, "sgd, adagrad or adam"],
  [shape.hidden, "a list of whole numbers from 1 to 4,294,967,295"],
  [shape.evaluateEvery, "epoch, merge, never or a whole number of at least 1"],
  [typeOf("scaleLearningRate"), "true or false"],
  [typeOf("staleness"), "a whole number of at least 0"],
  [typeOf("accelerate"), "add or overwrite"],
  // Of two algorithms, one of which has no upper bound.
  [typeOf("beta"), "a number above 0"],
  [shape.test, "a path"],
  [shape.target, "such as P@1>=0.6"],
])("says what a value must be (%#)", (type, expectation) => {
  expect(expectationOf(type)).toBe(expectation);
});

test.each([
  [shape.epochs, "12", 12],
  [shape.epochs, "12x", "12x"],
  [shape.epochs, "", ""],
  [shape.learningRate, "1e-3", 0.001],
  [shape.learningRate, "none", null],
  [shape.epochs, "none", "none"],
  [shape.hidden, "256, 128", [256, 128]],
  [shape.evaluateEvery, "3", 3],
  [shape.evaluateEvery, "merge", "merge"],
  [shape.maxTime, "90", 90],
  [shape.maxTime, "10m", "10m"],
  [shape.indexBase, "0", 0],
  [shape.force, "true", true],
  [shape.force, "0", false],
  [typeOf("scaleLearningRate"), "none", null],
  [shape.train, "12", "12"],
] as const)("reads a value from text (%#)", (type, text, value) => {
  expect(valueFromText(type, text)).toEqual(value);
});

test("knows switches, choices and defaults", () => {
  expect(isSwitch(shape.force)).toBe(true);
  expect(isSwitch(typeOf("scaleLearningRate"))).toBe(true);
  expect(isSwitch(shape.epochs)).toBe(false);
  expect(choicesOf(shape.loss)).toEqual(["softmax", "sigmoid"]);
  expect(defaultOf(shape.cutoffs)).toEqual([1, 3, 5]);
  expect(defaultOf(shape.maxTime)).toBeNull();
});

test.each([
  ["train", trainSchema],
  ["eval", evalSchema],
  ["predict", predictSchema],
  ["inspect", inspectSchema],
])("every option of %s has help, a group, and a value unless it is only on or off", (_, schema) => {
  for (const [key, type] of optionsOf(schema)) {
    expect(type.description, key).toMatch(/\.$/);
    const isOnlyOnOrOff = expectationOf(type) === "true or false";
    expect(lookOf(type).value === undefined, key).toBe(isOnlyOnOrOff);
  }
});

test("no two options of a verb share a short flag", () => {
  for (const schema of [trainSchema, evalSchema, predictSchema, inspectSchema]) {
    const shorts = optionsOf(schema).flatMap(([, type]) => lookOf(type).short ?? []);
    expect(new Set(shorts).size).toBe(shorts.length);
  }
});

test("every default is accepted", () => {
  const defaults = trainSchema.parse({});
  expect(trainSchema.parse(defaults)).toEqual(defaults);
  expect(z.toJSONSchema(trainSchema, { io: "input" }).additionalProperties).toBe(false);
});
