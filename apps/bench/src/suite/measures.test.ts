import { expect, test } from "vitest";
import { madeUpRecord } from "./made-up-records.js";
import { measureCells } from "./measures.js";
import { readSuite } from "./suite-file.js";
import { summarize, summaryMarkdown, tableOf } from "./summary.js";

const suite = {
  ...readSuite("averaging"),
  platforms: [{ name: "four", profile: "four-v100" }],
  goal: { bestOf: "elastic" },
};
const records = [
  madeUpRecord({ algorithm: "elastic", seed: 2, precision: [0.1, 0.5, 0.4] }),
  madeUpRecord({ algorithm: "elastic", seed: 1, precision: [0.1, 0.2, 0.3] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 1, precision: [0.1, 0.35, 0.3] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 2, precision: [0.2, 0.4, 0.45] }),
  madeUpRecord({ algorithm: "adaptive-sgd", seed: 3, precision: null }),
];

test("the goal is what the other reaches with the same seed; who misses it has no time", () => {
  const [adaptive, elastic] = measureCells({ suite, records });
  expect(adaptive!.algorithm).toBe("adaptive-sgd");
  // Of seed 3 there is nothing to be reached.
  expect(adaptive!.values.secondsToGoal).toEqual([2, null, undefined]);
  expect(adaptive!.values.bestPrecision).toEqual([0.35, 0.45, null]);
  expect(elastic!.seeds).toEqual([1, 2]);
  expect(elastic!.values.secondsToGoal).toEqual([3, 2]);
});

test("waiting and updates are parts of all devices'", () => {
  const [, elastic] = measureCells({ suite, records });
  expect(elastic!.values.waiting).toEqual([0.25, 0.25]);
  expect(elastic!.devices).toEqual([
    { name: "gpu", updates: [0.75, 0.75], busy: [0.9, 0.9] },
    { name: "gpu@0.5", updates: [0.25, 0.25], busy: [0.6, 0.6] },
  ]);
});

test("tuning runs are no results", () => {
  const trials = records.map((record) => ({ ...record, stage: "tuning" as const }));
  expect(measureCells({ suite, records: trials })).toEqual([]);
});

test("a table says that times are simulated, and how many seeds reached the goal", () => {
  const { head, rows } = tableOf(measureCells({ suite, records }), suite.goal);
  expect(head).toContain("time to elastic's best P@1, simulated");
  expect(rows.map(([name]) => name)).toEqual(["adaptive-sgd", "elastic"]);
  expect(rows[0]![3]).toBe("2 s (2 s–never), 1 of 2 reach it");
  expect(rows[0]!.at(-1)).toBe("75 % 25 %");
});

test("the Markdown has the commands of the first seed and where they ran", () => {
  const text = summaryMarkdown(summarize({ suite, records }));
  expect(text).toContain("## delicious, four\n\n| algorithm |");
  expect(text.match(/heterosgd simulate/g)!.length).toBe(2);
  expect(text).toContain("commit c");
});
