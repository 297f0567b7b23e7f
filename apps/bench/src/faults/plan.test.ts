import { expect, test } from "vitest";
import { algorithmNames } from "./algorithm-runs.js";
import { planScenarios } from "./plan.js";
import { deviceEnds, phases } from "./scenario.js";

test("processes are killed at least 200 times, 30 times in each phase, spread over all algorithms", () => {
  const kills = planScenarios({ seed: 1 }).filter(({ part }) => part === "kills");
  expect(kills.length).toBeGreaterThanOrEqual(200);
  for (const phase of phases) {
    expect(kills.filter(({ kind }) => kind === phase).length).toBeGreaterThanOrEqual(30);
  }
  for (const name of algorithmNames) {
    expect(kills.filter(({ algorithm }) => algorithm === name)).toHaveLength(3 * phases.length);
  }
});

test("devices fail in every way, for every algorithm, on one to three of them", () => {
  const failing = planScenarios({ seed: 1 }).filter(({ part }) => part === "devices");
  const words = failing.map(({ algorithm, kind, devices }) => `${algorithm} ${kind} ${devices}`);
  expect(new Set(words).size).toBe(algorithmNames.length * deviceEnds.length * 3);
});

test("a quick one has a fault of each part for every algorithm, of kinds in turn", () => {
  const quick = planScenarios({ seed: 1, quick: true });
  expect(quick).toHaveLength(3 * algorithmNames.length);
  const kinds = new Set(quick.map(({ kind }) => kind));
  expect(kinds.size).toBeGreaterThan(10);
});

test("only: algorithms, parts and kinds, which narrow one another", () => {
  const some = planScenarios({ seed: 1, only: ["sync", "local", "merging", "disks"] });
  expect(new Set(some.map(({ algorithm }) => algorithm))).toEqual(new Set(["sync", "local"]));
  expect(new Set(some.map(({ kind }) => kind))).toEqual(new Set(["merging", "full", "read-only"]));
  expect(() => planScenarios({ seed: 1, only: ["mergin"] })).toThrow(
    "--only: mergin is none of devices, kills, disks, throw",
  );
});
