import { MergeError } from "@heterosgd/merge";
import { ModelError } from "@heterosgd/model";
import { SchedulerError } from "@heterosgd/scheduler";
import { SparseError } from "@heterosgd/sparse";
import { TrainerError } from "@heterosgd/trainer";
import { expect, test } from "vitest";
import { CliError, describeError, describeStack, exitCodeOf } from "./errors.js";

test.each([
  [new CliError("USAGE", ""), 2],
  [new CliError("NOT_ENOUGH_MEMORY", ""), 1],
  [new CliError("LABEL_NAMES", ""), 3],
  [new SparseError("XC_HEADER", ""), 3],
  [new SparseError("OUT_OF_MEMORY", ""), 1],
  [new ModelError("MODEL_FORMAT", ""), 3],
  [new ModelError("MODEL_WRITE", ""), 1],
  [new SchedulerError("INVALID_OPTION", ""), 2],
  [new SchedulerError("INVALID_SETUP", ""), 2],
  [new SchedulerError("UNEXPECTED_EVENT", ""), 1],
  [new MergeError("INVALID_OPTION", ""), 2],
  [new TrainerError("DEVICE_SPEC", ""), 2],
  [new TrainerError("RUN_EXISTS", ""), 2],
  [new TrainerError("NO_DEVICES", ""), 4],
  [new TrainerError("DIVERGED", ""), 1],
  [new TypeError("a mistake of ours"), 1],
  ["thrown", 1],
])("%s exits with %i", (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});

test("an error that crossed from a worker keeps its exit code, though it lost its class", () => {
  const crossed = Object.assign(new Error("gone"), { name: "TrainerError", code: "NO_DEVICES" });
  expect(exitCodeOf(crossed)).toBe(4);
});

test("an error is one line with its hint and code", () => {
  const error = new CliError("CONFLICT", "first\n  second", { hint: "do this" });
  expect(describeError(error)).toBe("first second; do this [CONFLICT]");
  expect(describeError(new RangeError("plain"))).toBe("plain");
});

test("messages of the packages name flags instead of options of functions", () => {
  const error = new SparseError("TOO_WIDE", 'leave them out with onWider: "drop".');
  expect(describeError(error)).toBe("leave them out with --wider drop. [TOO_WIDE]");
});

test.each([
  [
    "The option batch.min is 256, but must be a whole number from 1 to 128.",
    "--batch-min is 256, but must be a whole number from 1 to 128.",
  ],
  [
    "The option hostMin is 10, but must be at most hostMax, 2.",
    "--host-min is 10, but must be at most --host-max, 2.",
  ],
  [
    "The option batchMax is 8, but must be at least batch, 16.",
    "--batch-max is 8, but must be at least --batch, 16.",
  ],
  [
    "The option batchScaling.gain is 2, but must be above 0 and at most 1.",
    "--kappa is 2, but must be above 0 and at most 1.",
  ],
  [
    "The option schedule.finalRate is 3, but must be between 0 and the rate, 1.",
    "--schedule-final is 3, but must be between 0 and the rate, 1.",
  ],
])("what a policy says of an option names its flag: %s", (message, shown) => {
  const error = new SchedulerError("INVALID_OPTION", message);
  expect(describeError(error)).toBe(`${shown} [INVALID_OPTION]`);
});

test("so does what a merge rule says", () => {
  const message = "The merge option momentum is 1, but must be at least 0 and below 1.";
  expect(describeError(new MergeError("INVALID_OPTION", message))).toBe(
    "--momentum is 1, but must be at least 0 and below 1. [INVALID_OPTION]",
  );
});

test("messages say what the model has, not what a function was asked for", () => {
  const error = new SparseError("TOO_WIDE", "index 9, but at most 5 features are asked for");
  expect(describeError(error)).toBe("index 9, but the model has 5 features [TOO_WIDE]");
});

test("a name in a message commands no terminal", () => {
  expect(describeError(new Error("\u001b[2J.txt"))).toBe("\\u001b[2J.txt");
});

test("the stack shows causes too", () => {
  const stack = describeStack(new Error("outer", { cause: new Error("inner") }));
  expect(stack).toMatch(/outer[\s\S]*caused by Error: inner/);
});
