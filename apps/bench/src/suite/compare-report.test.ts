import { expect, test } from "vitest";
import { comparisonTable, notesOf } from "./compare-report.js";
import { compareCells } from "./compare.js";
import { madeUpRecord, type MadeUpRecord } from "./made-up-records.js";
import { measureCells } from "./measures.js";
import type { Results } from "./results-folder.js";
import { readSuite, type Suite } from "./suite-file.js";

const suite: Suite = {
  ...readSuite("averaging"),
  platforms: [{ name: "four", profile: "four-v100" }],
};
const results = (members: Partial<Suite>, made: Partial<MadeUpRecord>): Results => ({
  suite: { ...suite, ...members },
  records: [1, 2, 3].map((seed) => madeUpRecord({ seed, precision: [0.1, 0.2], ...made })),
});
const compare = (a: Results, b: Results) => {
  const differences = compareCells(measureCells(a), measureCells(b));
  return { notes: notesOf(a, b, differences), rows: comparisonTable(differences.comparisons).rows };
};

test("of the same results the notes say nothing but that", () => {
  const { notes } = compare(results({}, {}), results({}, {}));
  expect(notes[0]).toContain("6 comparisons: 0 better, 0 worse, 0 within the noise, 6 the same");
  expect(notes.join("\n")).not.toMatch(/has changed|was tuned|Only/);
});

test("what is not the same about the suites is named, and what was tuned otherwise", () => {
  const before = results({}, { tuned: { learningRate: 2 } });
  const after = results({ stop: { epochs: 3 }, seeds: [1] }, { tuned: { learningRate: 4 } });
  const { notes } = compare(before, after);
  expect(notes).toContain("The suite has changed between A and B: its seeds, stop.");
  expect(notes).toContain(
    "delicious, four, elastic was tuned to learningRate=2 in A, to learningRate=4 in B.",
  );
});

test("a goal that depends on results is said to move with them, a number is not", () => {
  const moving = "where that has moved, so has the goal.";
  const told = (goal: NonNullable<Suite["goal"]>) =>
    compare(results({ goal }, {}), results({ goal }, {})).notes.join("\n");
  expect(told({ bestOf: "elastic" })).toContain(moving);
  expect(told({ precision: 0.2 })).not.toContain(moving);
});

test("times change by a factor, percentages by points, anything else by a difference", () => {
  const after = results({}, { precision: [0.1, 0.2, 0.3] });
  const records = after.records.map((record) => ({
    ...record,
    result: {
      ...record.result!,
      devices: record.result!.devices.map((device) => ({
        ...device,
        usage: { training: 10, merging: 0, evaluating: 0, waiting: 0 },
      })),
    },
  }));
  const { rows } = compare(results({}, {}), { ...after, records });
  const changes = rows.map(([, , , measure, , , change, verdict]) => [measure, change, verdict]);
  expect(changes).toEqual([
    ["best P@1", "+0.1000", "better"],
    ["P@1 at the end", "+0.1000", "better"],
    ["training loss at the end", "−0.167", "better"],
    ["time to the goal, simulated", "× 1.50", "worse"],
    ["time of the run, simulated", "× 1.50", "worse"],
    ["waiting", "−25.0 points", "better"],
  ]);
});
