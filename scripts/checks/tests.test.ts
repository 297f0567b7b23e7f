import { expect, it } from "vitest";
import { readReport } from "./tests.mjs";

const file = (name: string, status: string, statuses: readonly string[], message = "") => ({
  name: `/clone/packages/a/${name}`,
  status,
  message,
  assertionResults: statuses.map((each, index) => ({
    fullName: `test ${index}`,
    status: each,
    failureMessages: each === "failed" ? ["expected 1 to be 2"] : [],
  })),
});

it("does not require what can't be installed everywhere, and says so", () => {
  const name = "PTX is assembled, where there is ptxas";
  const assertionResults = [{ fullName: name, status: "skipped" }];
  const testResults = [{ name: "/clone/a.test.ts", status: "passed", assertionResults }];
  const { tests, skippedTests, note } = readReport({ testResults }, "/clone");
  expect(tests).toEqual({ passed: 0, failed: 0, skipped: 0 });
  expect(skippedTests).toEqual([]);
  expect(note).toBe("0 passed, 0 failed, 0 skipped, 1 not possible on this machine");
});

it("counts single tests, and names what failed and what was skipped", () => {
  const testResults = [
    file("a.test.ts", "failed", ["passed", "failed", "passed"]),
    file("b.test.ts", "passed", ["pending", "skipped", "todo", "passed"]),
  ];
  const { tests, problems, skippedTests } = readReport({ testResults }, "/clone");
  expect(tests).toEqual({ passed: 3, failed: 1, skipped: 3 });
  expect(problems).toEqual(["packages/a/a.test.ts: test 1\n  expected 1 to be 2"]);
  expect(skippedTests).toEqual(["packages/a/b.test.ts: test 0 and 2 more"]);
});

it("counts a file that could not be run as one failed test", () => {
  const testResults = [
    file("a.test.ts", "failed", [], "Cannot find module"),
    file("b", "passed", ["passed"]),
  ];
  const { tests, problems } = readReport({ testResults }, "/clone");
  expect(tests).toEqual({ passed: 1, failed: 1, skipped: 0 });
  expect(problems).toEqual(["packages/a/a.test.ts: Cannot find module"]);
});
