// @ts-check
import { StepError } from "./processes.mjs";

/**
 * @typedef {import("./check.js").Check} Check
 * @typedef {import("./check.js").Context} Context
 * @typedef {import("./check.js").Counts} Counts
 * @typedef {import("./check.js").Result} Result
 */

/**
 * Makes the checks, a few at a time in their order, and prints one line for each as it ends, with
 * what was wrong below it.
 *
 * @param {readonly Check[]} checks
 * @param {Context} context
 * @param {object} options
 * @param {number} options.lanes how many at a time
 * @param {boolean} options.requireAll whether a skip is a failure
 * @param {(line: string) => void} options.print
 * @returns {Promise<Counts>}
 */
export async function runChecks(checks, context, { lanes, requireAll, print }) {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const waiting = [...checks];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const start = performance.now();
      const result = await answer(check, context);
      const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
      const verdict = judge(result, requireAll);
      const { name } = check;
      const note = result.note === undefined ? "" : `  ${result.note}`;
      print(`${verdict.word.padEnd(7)} ${name.padEnd(width)} ${seconds} s${note}`);
      for (const line of verdict.lines) print(line);
      counts.passed += verdict.counts.passed;
      counts.failed += verdict.counts.failed;
      counts.skipped += verdict.counts.skipped;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return counts;
}

/**
 * What a result counts for, and what is printed below its line.
 *
 * @param {Result} result
 * @param {boolean} requireAll
 * @returns {{ word: "passed" | "failed" | "skipped", lines: readonly string[], counts: Counts }}
 */
export function judge({ problems, skipped, tests, skippedTests = [] }, requireAll) {
  const counts = { passed: 0, failed: 0, skipped: 0, ...tests };
  const skips = [...(skipped === undefined ? [] : [skipped]), ...skippedTests];
  if (requireAll) {
    counts.failed += counts.skipped;
    counts.skipped = 0;
  }
  const lines = [
    ...problems.flatMap((problem) => problem.split("\n")),
    ...skips.map((reason) =>
      requireAll ? `skipped, but required: ${reason}` : `skipped: ${reason}`,
    ),
  ].map((line) => `        ${line}`);
  const failed = problems.length > 0 || (requireAll && skips.length > 0);
  const word = failed ? "failed" : skipped === undefined ? "passed" : "skipped";
  counts[word] += 1;
  return { word, lines, counts };
}

/**
 * @param {Counts} counts
 * @returns {string}
 */
export function countsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * A check that throws has failed; the others go on.
 *
 * @param {Check} check
 * @param {Context} context
 * @returns {Promise<Result>}
 */
async function answer(check, context) {
  try {
    return await check.run(context);
  } catch (error) {
    if (error instanceof StepError) return { problems: [error.message] };
    return { problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}
