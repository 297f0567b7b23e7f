// @ts-check
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { capture, lastLines } from "../lib/processes.mjs";
import { readJson, root, toolPath } from "../lib/workspace.mjs";

/**
 * The part of vitest's JSON report that is read here.
 *
 * @typedef {object} VitestReport
 * @property {readonly { name: string, status: string, message?: string, assertionResults: readonly
 *   { fullName: string, status: string, failureMessages?: readonly string[] | null }[], }[]}
 *   testResults
 */

/** @type {import("../lib/check.js").Check} */
export const testsCheck = {
  name: "tests",
  about: "every unit and integration test passes",
  async run(context) {
    const path = join(context.temporaryFolder("vitest"), "report.json");
    const { code, output } = await capture(
      process.execPath,
      [
        toolPath("vitest"),
        "run",
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${path}`,
      ],
      { cwd: root, env: { ...process.env, NO_COLOR: "1" } },
    );
    if (!existsSync(path)) return { problems: [lastLines(output, 60)] };
    const result = readReport(readJson(path), root);
    // An error outside of any test (a rejection nobody awaited, a worker that died) is in the exit
    // code alone.
    if (code === 0 || result.problems.length > 0) return result;
    return { ...result, problems: [`vitest exited with ${code}:\n${lastLines(output, 60)}`] };
  },
};

/** Tests of what can't be installed everywhere say so in their names: where it is missing they are not required. */
const optional = /\bwhere there is (nvcc|ptxas)\b/u;

/**
 * Counts a report's tests. A file that could not be run at all counts as one failed test.
 *
 * @param {VitestReport} report
 * @param {string} from the folder that paths are shown from
 * @returns {import("../lib/check.js").Result & { tests: import("../lib/check.js").Counts }}
 */
export function readReport(report, from) {
  const tests = { passed: 0, failed: 0, skipped: 0 };
  const problems = [];
  const skippedTests = [];
  let absent = 0;
  for (const file of report.testResults) {
    const path = relative(from, file.name).split(sep).join("/");
    const skipped = [];
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      if (status === "passed") tests.passed += 1;
      else if (status === "failed") {
        tests.failed += 1;
        const lines = (failureMessages ?? [])
          .join("\n")
          .split("\n")
          .filter((line) => !line.includes("node_modules"));
        problems.push(`${path}: ${fullName}\n  ${lines.slice(0, 12).join("\n  ")}`);
      } else if (optional.test(fullName)) absent += 1;
      else skipped.push(fullName);
    }
    if (skipped.length > 0) {
      tests.skipped += skipped.length;
      const others = skipped.length > 1 ? ` and ${skipped.length - 1} more` : "";
      skippedTests.push(`${path}: ${skipped[0]}${others}`);
    }
    if (
      file.status === "failed" &&
      !file.assertionResults.some(({ status }) => status === "failed")
    ) {
      tests.failed += 1;
      problems.push(`${path}: ${file.message ?? "could not be run"}`);
    }
  }
  const beyond = absent > 0 ? `, ${absent} not possible on this machine` : "";
  const note = `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped${beyond}`;
  return { problems, tests, skippedTests, note };
}
