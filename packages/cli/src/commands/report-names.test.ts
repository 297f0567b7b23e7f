import { expect, test } from "vitest";
import { namesOf } from "./report-names.js";

const config = { algorithm: "adaptive-sgd", devices: "cpu,cpu@0.5", seed: 1, batch: 128, out: "a" };
const names = (...configs: readonly (Readonly<Record<string, unknown>> | null)[]) =>
  namesOf(configs.map((each, i) => ({ folder: `run-${i + 1}`, config: each })));

test("runs that differ in nothing but seed and folder have one name", () => {
  expect(names(config, { ...config, seed: 2, out: "b" })).toEqual(["adaptive-sgd", "adaptive-sgd"]);
});

test("runs are named by what differs", () => {
  expect(names(config, { ...config, devices: "cpu" })).toEqual(["cpu,cpu@0.5", "cpu"]);
  expect(names(config, { ...config, batch: null })).toEqual(["batch 128", "batch automatic"]);
});

test("an algorithm stands for the defaults that it brings with it", () => {
  const sync = {
    ...config,
    algorithm: "sync",
    batch: 64,
    kappa: 1,
    momentum: 0.9,
    alpha: 2,
    beta: 3,
  };
  expect(names(config, sync)).toEqual(["adaptive-sgd", "sync"]);
});

test("folders name runs where what differs is more than a name holds", () => {
  const other = { ...config, a: 1, b: 2, c: 3, d: 4, e: 5 };
  expect(names(config, other)).toEqual(["run-1", "run-2"]);
  const sync = { ...config, algorithm: "sync" };
  expect(names(config, sync, { ...sync, batch: 64 })).toEqual(["run-1", "run-2", "run-3"]);
});

test("folders name runs where a configuration is missing, and one run alone", () => {
  expect(names(config, null)).toEqual(["run-1", "run-2"]);
  expect(names(config)).toEqual(["run-1"]);
  const same = { folder: "first", config: null };
  expect(namesOf([same, same])).toEqual(["first", "first (2)"]);
});
