import { expect, test } from "vitest";
import { madeUpRecord } from "./made-up-records.js";
import { measureCells } from "./measures.js";
import { readSuite } from "./suite-file.js";
import { lossTable, resultTable } from "./summary-tables.js";
import { summarize, summaryMarkdown } from "./summary.js";

const goal = { bestOf: "elastic" };
const suite = {
  ...readSuite("averaging"),
  platforms: [{ name: "four", profile: "four-v100" }],
  seeds: [1, 2],
  losses: [0.1, 1],
  goal,
};
const records = [
  madeUpRecord({ algorithm: "elastic", seed: 1, precision: [0.1, 0.2, 0.3] }),
  madeUpRecord({ algorithm: "elastic", seed: 2, precision: [0.1, 0.5, 0.4] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 1, precision: [0.1, 0.35, 0.3] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 2, precision: [0.2, 0.4, 0.45] }),
];
const cells = measureCells({ suite, records });

test("the table of results says that times are simulated, and how many seeds reached the goal", () => {
  const { head, rows } = resultTable(cells, goal);
  expect(head).toEqual([
    "algorithm",
    "tuned",
    "best P@1",
    "time to the best P@1 of elastic, simulated",
    "speed-up over elastic",
    "time of the run, simulated",
    "waiting",
    "updates by device",
  ]);
  expect(rows[0]).toEqual([
    "adaptive-sgd",
    "–",
    "0.3500 (0.3500–0.4500)",
    "2 s (2 s–never), 1 of 2 reach it",
    "0.00 (0.00–1.50)",
    "3 s",
    "25.0 %",
    "75 % 25 %",
  ]);
});

test("without a goal, or with a number for one, the columns that it would fill are left out", () => {
  expect(resultTable(cells, null).head).not.toContain("speed-up over elastic");
  const { head } = resultTable(cells, { precision: 0.3 });
  expect(head).toContain("time to P@1 0.3, simulated");
  expect(head.join()).not.toContain("speed-up");
});

test("the table of losses says none before the first evaluation, and small shares a digit more", () => {
  const few = cells.map((cell) => ({
    ...cell,
    devices: [
      { name: "cpu", updates: [0.996], busy: [0.9] },
      { name: "gpu", updates: [0.004], busy: [0.6] },
    ],
  }));
  expect(lossTable(few, "elastic", [0.1, 1])).toEqual({
    head: [
      "algorithm",
      "loss at 10 % of the time of elastic",
      "loss at 100 %",
      "updates by device",
      "utilisation by device",
    ],
    rows: [
      ["adaptive-sgd", "none", "1.00", "100 % 0.4 %", "90 % 60 %"],
      ["elastic", "none", "1.00", "100 % 0.4 %", "90 % 60 %"],
    ],
  });
});

test("the Markdown has each table's command, and where it ran under what load", () => {
  const text = summaryMarkdown(summarize({ suite, records }));
  expect(text).toContain("#### delicious, four\n\n| algorithm | tuned |");
  const command = "npm run bench -- run averaging --only delicious,four,adaptive-sgd,elastic";
  expect(text).toContain(`\n\n\`${command}\`\n`);
  expect(text).toContain("4 runs: p, 2 cores, 1 GiB, Node v1, load 0.0 (0.0–0.0)");
});

test("the command of other seeds than the suite's, and of one's own suite, says so", () => {
  const algorithms = suite.algorithms.filter(({ name }) => name === "elastic");
  const own = { ...suite, name: "mine", algorithms };
  const text = summaryMarkdown(summarize({ suite: own, records: records.slice(1, 2) }));
  expect(text).toContain("`npm run bench -- run mine.json --only delicious,four --seeds 2`");
});

test("runs of two commits are told apart, each with its loads", () => {
  const [first, ...others] = records;
  const { environment } = first!;
  const older = { ...first!, environment: { ...environment, commit: "old", load: 2 } };
  const { places } = summarize({ suite, records: [older, ...others] });
  expect(places.map(({ commit, runs, load }) => [commit, runs, load.high])).toEqual([
    ["old", 1, 2],
    ["c", 3, 0],
  ]);
});
