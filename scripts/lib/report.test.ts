import { describe, expect, it } from "vitest";
import type { Check, Context, Result } from "./check.js";
import { StepError } from "./processes.mjs";
import { countsLine, judge, runChecks } from "./report.mjs";

const tests = { passed: 7, failed: 0, skipped: 2 };
const passing: Result = { problems: [] };

describe("judge", () => {
  it("counts a check once, beside the tests that it ran", () => {
    expect(judge({ ...passing, tests }, false).counts).toEqual({
      passed: 8,
      failed: 0,
      skipped: 2,
    });
  });

  it("shows every line of a problem below a failed check", () => {
    const { word, lines, counts } = judge({ problems: ["one\ntwo", "three"] }, false);
    expect(word).toBe("failed");
    expect(lines.map((line) => line.trim())).toEqual(["one", "two", "three"]);
    expect(counts).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it("counts a skip and says why", () => {
    const { word, lines, counts } = judge({ ...passing, skipped: "no browser" }, false);
    expect(word).toBe("skipped");
    expect(lines.join("\n")).toContain("skipped: no browser");
    expect(counts).toEqual({ passed: 0, failed: 0, skipped: 1 });
  });

  it("turns skips into failures where everything is required", () => {
    expect(judge({ ...passing, skipped: "no browser" }, true).word).toBe("failed");
    const { word, counts } = judge({ ...passing, tests, skippedTests: ["two tests"] }, true);
    expect(word).toBe("failed");
    expect(counts).toEqual({ passed: 7, failed: 3, skipped: 0 });
  });
});

describe("runChecks", () => {
  const context: Context = {
    packages: [],
    tarballs: () => Promise.resolve([]),
    temporaryFolder: (name) => name,
  };
  const check = (name: string, run: Check["run"]): Check => ({ name, about: "", run });

  it("goes on after a check that fails or throws, and adds up the counts", async () => {
    const lines: string[] = [];
    const counts = await runChecks(
      [
        check("throws", () => Promise.reject(new Error("broken"))),
        check("stops", () => Promise.reject(new StepError("exit code 1"))),
        check("passes", () => Promise.resolve({ ...passing, note: "a note" })),
      ],
      context,
      { lanes: 2, requireAll: false, print: (line) => lines.push(line) },
    );
    expect(counts).toEqual({ passed: 1, failed: 2, skipped: 0 });
    expect(lines.filter((line) => !line.startsWith(" ")).map((line) => line.slice(0, 14))).toEqual([
      "failed  throws",
      "failed  stops ",
      "passed  passes",
    ]);
    expect(lines.join("\n")).toMatch(/broken[\s\S]*exit code 1[\s\S]*a note/);
  });

  it("never runs more checks at a time than there are lanes", async () => {
    let running = 0;
    let most = 0;
    const slow = check("slow", async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      running -= 1;
      return passing;
    });
    const options = { lanes: 2, requireAll: false, print: () => {} };
    await runChecks([slow, slow, slow, slow], context, options);
    expect(most).toBe(2);
  });
});

it("writes the counts as one line", () => {
  expect(countsLine({ passed: 3, failed: 0, skipped: 1 })).toBe("3 passed, 0 failed, 1 skipped");
});
