import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { chooseContestants, stepContestants } from "./contestants.js";
import { parseStatus } from "./process-memory.js";
import { sameLosses } from "./step.js";

const all = stepContestants("/some/python");

test("all take part but those that must be named", () => {
  const names = chooseContestants(all, undefined).map(({ name }) => name);
  expect(names).toContain("torch-2-threads");
  expect(names).toContain("native-bf16");
  expect(names).not.toContain("plain");
  expect(chooseContestants(all, ["plain", "torch"]).map(({ name }) => name)).toEqual([
    "torch",
    "plain",
  ]);
  expect(() => chooseContestants(all, ["jax"])).toThrow(/no "jax"; there are torch, /u);
});

test("PyTorch runs by the interpreter that was named, with the driver that there is", () => {
  const [python, driver, ...rest] = all[3]!.command("/data");
  expect(python).toBe("/some/python");
  expect(existsSync(driver!)).toBe(true);
  expect(rest).toEqual(["/data", "2", "--bf16"]);
});

test("losses are the same within a relative difference; none are not", () => {
  expect(sameLosses([10, 5], [10.005, 5.002], 1e-3)).toBe(true);
  expect(sameLosses([10, 5], [10, 5.01], 1e-3)).toBe(false);
  expect(sameLosses([Number.NaN], [1], 1e-3)).toBe(false);
  expect(sameLosses([], [1], 1e-3)).toBe(false);
});

test("memory is read from the process's status", () => {
  const text = "Name:\tnode\nVmHWM:\t  200 kB\nVmRSS:\t  100 kB\n";
  expect(parseStatus(text)).toEqual({ now: 102_400, peak: 204_800 });
  expect(() => parseStatus("VmRSS:\t 1 kB\n")).toThrow("VmHWM");
});
