/** A few faults on the built command, where they strike by the seed: `bench faults` injects hundreds. */
import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { algorithmNames } from "../src/faults/algorithm-runs.js";
import type { Result } from "../src/faults/report.js";
import { outcomeOf } from "./tiny-suite.js";

// Every run is a process of its own: seconds in all, minutes on a machine that is busy otherwise.
vi.setConfig({ testTimeout: 240_000 });

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Injects faults; all that were planned. */
async function inject(...only: readonly string[]): Promise<readonly Result[]> {
  const args = ["faults", "--quick", "--only", only.join(","), "--seed", "3", "--json"];
  const { code, stdout, stderr } = await outcomeOf(spawn(process.execPath, [program, ...args]));
  expect(code, stderr).toBe(0);
  const { planned, results } = JSON.parse(stdout) as {
    readonly planned: number;
    readonly results: readonly Result[];
  };
  expect(results).toHaveLength(planned);
  return results;
}

test("every algorithm of the command is put to the test", () => {
  const command = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));
  const schema = execFileSync(process.execPath, [command, "config", "--schema"], {
    encoding: "utf8",
  });
  const { properties } = JSON.parse(schema) as {
    readonly properties: { readonly algorithm: { readonly enum: readonly string[] } };
  };
  expect(algorithmNames.toSorted()).toEqual(properties.algorithm.enum.toSorted());
});

const untouched = { lost: 0, doubled: 0, problems: [], skipped: null };

test("a run that is killed as it writes, merges or resumes goes on and misses no row", async () => {
  for (const [phase, algorithm] of [
    ["writing", "adaptive-sgd"],
    ["merging", "easgd"],
    ["resuming", "sync"],
  ] as const) {
    const [result, ...others] = await inject(phase, algorithm);
    expect(others).toEqual([]);
    expect(result!.scenario).toMatchObject({ part: "kills", kind: phase, algorithm });
    expect(result!.outcome).toMatchObject(untouched);
    // On a busy machine the signal may land a moment after the phase that it was aimed at.
    expect(result!.outcome.struck).toMatch(/\w/);
    // The model is as if nothing had happened: one device repeats itself.
    expect(result!.outcome.repeats).toBe(true);
  }
});

test("a run whose device ends goes on and misses no row", async () => {
  const [result] = await inject("exit after", "async");
  expect(result!.scenario).toMatchObject({ part: "devices", kind: "exit after" });
  expect(result!.outcome).toMatchObject({ ...untouched, injected: 1, survived: 1 });
});
