/** Suites and results of strangers. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  changedBytes,
  changedJson,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
} from "../../../../test-support/hostile-files.js";
import { ownFile } from "../own-files.js";
import { madeUpRecord } from "./made-up-records.js";
import { cellsOf, testRuns, tuningRuns } from "./plan.js";
import { readResults, runPath, writeJson } from "./results-folder.js";
import { SuiteError } from "./suite-error.js";
import { parseSuite, readSuite, type Suite } from "./suite-file.js";
import { summarize, summaryMarkdown } from "./summary.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heterosgd-results-"));
  mkdirSync(join(folder, "runs"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isRefusal = (error: Error) => error instanceof SuiteError;

const shipped = readFileSync(ownFile("suites/delayed.json"), "utf8");
const suiteFiles = fc.oneof(
  changedBytes(Buffer.from(shipped)).map((bytes) => Buffer.from(bytes).toString("utf8")),
  changedJson(JSON.parse(shipped)).map((document) => JSON.stringify(document)),
);

/** What a run is given, and where its results go: to a file of the folder. */
function expectPlanned(suite: Suite): void {
  for (const cell of cellsOf(suite).slice(0, 3)) {
    const runs = [...tuningRuns(suite, cell, "/data"), ...testRuns(suite, cell, "/data", {})];
    for (const run of runs.slice(0, 3)) {
      expect(relative(folder, dirname(runPath(folder, run)))).toBe("runs");
      expect(run.args.every((word) => typeof word === "string")).toBe(true);
    }
  }
}

test("a suite that somebody has changed is taken or refused", fuzzTimeout, async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(suiteFiles, async (text) => {
      const suite = await readOrRefuse(text.length, () => parseSuite(text, "/x/y.json"), isRefusal);
      if (suite === undefined) return;
      taken++;
      expectPlanned(suite);
    }),
    fuzzParameters,
  );
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(fuzzCases);
});

const record = madeUpRecord({ set: "cooking", algorithm: "async", precision: [0.1, 0.3] });

test.each<[string, string, unknown]>([
  ["a run's record", "runs/a.json", record],
  ["the suite", "suite.json", readSuite("delayed")],
])(
  "results in which somebody has changed %s are summed up or refused",
  fuzzTimeout,
  async (_, file, original) => {
    writeJson(join(folder, "suite.json"), readSuite("delayed"));
    writeJson(join(folder, "runs", "a.json"), record);
    const text = Buffer.from(JSON.stringify(original));
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          changedBytes(text),
          changedJson(original).map((document) => Buffer.from(JSON.stringify(document))),
        ),
        async (bytes) => {
          writeFileSync(join(folder, file), bytes);
          const read = () => summaryMarkdown(summarize(readResults(folder)));
          const summary = await readOrRefuse(bytes.length, read, isRefusal);
          if (summary !== undefined) taken++;
        },
      ),
      fuzzParameters,
    );
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(fuzzCases);
  },
);

test("a grid of more combinations than anybody waits for is refused", () => {
  const document = JSON.parse(shipped) as object;
  const options = Array.from({ length: 12 }, (_, i) => [`option${i}`, [1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  const text = JSON.stringify({ ...document, grid: Object.fromEntries(options) });
  expect(() => parseSuite(text, "/x/y.json")).toThrow("grid: expected at most 10000 combinations");
});
