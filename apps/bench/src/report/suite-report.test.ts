import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { madeUpRecord } from "../suite/made-up-records.js";
import { openFolder, runPath, writeJson } from "../suite/results-folder.js";
import { SuiteError } from "../suite/suite-error.js";
import { parseSuite } from "../suite/suite-file.js";
import { reportSuite, selected } from "./suite-report.js";
import { suiteSections } from "./suite-sections.js";

const suite = parseSuite(
  JSON.stringify({
    description: "Two algorithms.",
    sets: ["delicious"],
    platforms: [{ name: "four", profile: "four-v100" }],
    algorithms: [{ algorithm: "adaptive-sgd" }, { algorithm: "elastic" }],
    seeds: [1, 2, 3],
    stop: { epochs: 1 },
    goal: { bestOf: "elastic" },
  }),
  "made-up.json",
);

const records = [
  madeUpRecord({ algorithm: "elastic", seed: 1, precision: [0.1, 0.2, 0.3, 0.4] }),
  madeUpRecord({ algorithm: "elastic", seed: 2, precision: [0.1, 0.2, 0.3, 0.5] }),
  madeUpRecord({
    algorithm: "adaptive-sgd",
    seed: 1,
    precision: [0.3, 0.4],
    tuned: { learningRate: 8 },
  }),
  madeUpRecord({
    algorithm: "adaptive-sgd",
    seed: 2,
    precision: [0.2, 0.3],
    tuned: { learningRate: 8 },
  }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 3, precision: null, tuned: { learningRate: 8 } }),
];
const results = { suite, records };

describe("the sections of a suite's report", () => {
  test("hold its algorithms against each other, over the seeds", () => {
    const [section, ...others] = suiteSections(results);
    expect(others).toEqual([]);
    expect(section).toMatchObject({ set: "delicious", platform: "four", title: "delicious, four" });
    expect(section!.figures.map(({ id }) => id)).toEqual([
      "time-to-accuracy",
      "time-to-target",
      "accuracy-by-rows",
      "loss",
      "utilisation",
      "shares",
    ]);
    expect(section!.facts).toEqual(
      expect.arrayContaining([
        ["Seeds", "1, 2, 3"],
        ["adaptive-sgd", "learningRate=8"],
        ["adaptive-sgd diverged", "seeds 3"],
      ]),
    );
  });

  test("tell the time to the suite's goal, with ratios to each, as the suite's tables do", () => {
    const { table, caption } = suiteSections(results)[0]!.figures[1]!;
    expect(table.columns.map(({ label }) => label)).toEqual([
      "target",
      "run",
      "best P@1",
      "simulated time to the target",
      "speed-up over adaptive-sgd",
      "speed-up over elastic",
    ]);
    // Seed 1 of adaptive-sgd reaches 0.4 at 2 s, elastic at 4 s; seed 2 never gets to 0.5.
    expect(table.rows).toEqual([
      [
        "the best P@1 of elastic",
        "adaptive-sgd",
        "0.3000 (0.3000–0.4000)",
        "2.00 s (2.00 s–never)",
        "1",
        "0.00 (0.00–2.00)",
      ],
      ["the best P@1 of elastic", "elastic", "0.4000 (0.4000–0.5000)", "4.00 s", "0.50", "1"],
    ]);
    expect(caption).toContain("All times are simulated.");
  });

  test("are chosen by charts, sets and platforms", () => {
    const sections = suiteSections(results);
    const ids = (only: readonly string[]) =>
      selected(sections, only).map(({ figures }) => figures.map(({ id }) => id));
    expect(ids(["loss", "delicious"])).toEqual([["loss"]]);
    expect(ids(["four", "shares", "utilisation"])).toEqual([["utilisation", "shares"]]);
    expect(() => selected(sections, ["cooking"])).toThrow(
      /there is no cooking; there are delicious/,
    );
  });
});

describe("the report of a folder of results", () => {
  let folder = "";
  let said: readonly unknown[][] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "heterosgd-suite-report-"));
    openFolder(folder, suite);
    for (const record of records) writeJson(runPath(folder, record), record);
  });
  beforeEach(() => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    said = log.mock.calls;
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is a page in the folder, or where it is told to be", async () => {
    await reportSuite(folder, {});
    const file = join(folder, "report.html");
    expect(said).toEqual([[file]]);
    const html = readFileSync(file, "utf8");
    expect(html).toContain("<h1>Suite made-up</h1>");
    expect(html).toContain("bands reach from the lowest to the highest");
    await reportSuite(folder, { out: join(folder, "a.svg"), only: ["shares"] });
    expect(readFileSync(join(folder, "a.svg"), "utf8").match(/role="img"/g)).toHaveLength(1);
    await reportSuite(folder, { out: join(folder, "a.png"), only: ["shares"] });
    expect(readFileSync(join(folder, "a.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  test.each([
    ["no results", "nothing", {}, /holds no results/],
    ["an unknown format", "", { out: "report.pdf" }, /\*\.png, not report\.pdf/],
    ["a folder that is not there", "", { out: "none/such/a.html" }, /cannot be written/],
    ["a picture of a table", "", { out: "a.svg", only: ["time-to-target"] }, /nothing|no results/],
  ])("is refused for %s", async (_, name, options, message) => {
    const refused = reportSuite(join(folder, name), options);
    await expect(refused).rejects.toThrow(SuiteError);
    await expect(refused).rejects.toThrow(message);
  });
});
