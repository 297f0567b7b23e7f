import { expect, test } from "vitest";
import { data } from "../test/tiny-data.js";
import { decide } from "./config/complete.js";
import { trainSchema, type TrainConfig } from "./config/schema.js";
import { CliError } from "./errors.js";
import { bytesToTake, checkMemory, memoryParts } from "./memory.js";
import { planRun } from "./plan.js";

const planned = (values: Partial<TrainConfig>) =>
  planRun(
    decide(trainSchema.parse({ train: "t", devices: "2*cpu", kernels: "plain", ...values })),
    data,
  );

function refusal(values: Partial<TrainConfig>, available: number): CliError {
  try {
    checkMemory(planned(values), available);
  } catch (error) {
    if (error instanceof CliError && error.code === "NOT_ENOUGH_MEMORY") return error;
    throw error;
  }
  throw new Error("the run was not refused");
}

test("a run that needs a byte more than is free is refused", () => {
  const plan = planned({});
  const bytes = bytesToTake(plan.memory);
  expect(() => checkMemory(plan, bytes)).not.toThrow();
  expect(() => checkMemory(plan, bytes - 1)).toThrow(
    expect.objectContaining({ code: "NOT_ENOUGH_MEMORY" }),
  );
});

test("the refusal has what is needed, what is free and what takes most", () => {
  const { message } = refusal({ hidden: [1_000_000], optimizer: "adam" }, 2 ** 20);
  expect(message).toMatch(
    /^the run needs 1\.\d\d GiB more than its data, but 1\.00 MiB are free; /,
  );
  expect(message).toMatch(/; of 1\.\d\d GiB in all it takes most for /);
  // Two replicas of 12 million parameters with two arrays of state each.
  expect(message).toContain("models of devices 275 MiB");
});

test("the hint has what each option would need, the least first, and all of them together", () => {
  const { hint } = refusal({ hidden: [1_000_000], optimizer: "adam" }, 2 ** 20);
  const order = ["--hidden 500000", "--devices cpu", "--optimizer sgd", "--checkpoint-every never"];
  const places = order.map((flags) => hint!.indexOf(`${flags} needs `));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBe(0);
  expect(hint).toMatch(/, all of it together [\d.]+ MiB$/);
});

test("the figures of the hint are those that the options have", () => {
  const { hint } = refusal({ hidden: [1_000_000], optimizer: "adam" }, 2 ** 20);
  const said = Number(/--optimizer sgd needs ([\d.]+) MiB/.exec(hint!)![1]);
  const { memory } = planned({ hidden: [1_000_000], optimizer: "sgd" });
  expect(said).toBeCloseTo(bytesToTake(memory) / 2 ** 20, -1);
});

test("options that change nothing are not named", () => {
  const { hint } = refusal(
    { hidden: [1_000_000], optimizer: "sgd", devices: "cpu", checkpointEvery: "never" },
    2 ** 20,
  );
  expect(hint).toMatch(/^--hidden 500000 needs [\d.]+ MiB$/);
});

test("models beyond the memory of WebAssembly are refused, whatever is free", () => {
  const sizes: Partial<TrainConfig> = { hidden: [9_000_000], optimizer: "adam" };
  const { message, hint } = refusal({ ...sizes, kernels: "wasm" }, Infinity);
  expect(message).toMatch(/need [\d.]+ GiB, .* WebAssembly reach 4\.00 GiB/);
  expect(hint).toMatch(/^take native kernels .*--optimizer sgd needs [\d.]+ GiB/);
  expect(hint).not.toContain("--checkpoint-every");
  const small = planned({ ...sizes, kernels: "wasm", hidden: [4] });
  expect(() => checkMemory(small, Infinity)).not.toThrow();
  expect(() => checkMemory(planned(sizes), Infinity)).not.toThrow();
});

test("the parts are all of what training holds", () => {
  const { memory } = planned({ optimizer: "adam" });
  const parts = memoryParts(memory).reduce((sum, [, bytes]) => sum + bytes, 0);
  expect(parts).toBe(memory.training);
  expect(memoryParts(memory).map(([what]) => what)).not.toContain("the simulation");
});
