import { describe, expect, it } from "vitest";
import { errorOf, rowsOf } from "../test/support.js";
import { createLibsvmReader, readLibsvm } from "./read-libsvm.js";
import type { LibsvmOptions } from "./read-options.js";

const rows = (text: string, options?: LibsvmOptions) => rowsOf(readLibsvm(text, options).dataset);

function refusal(text: string, options: LibsvmOptions = {}) {
  return errorOf(() => readLibsvm(text, { source: "train.svm", ...options }));
}

describe("readLibsvm", () => {
  it("reads labels as names and features counted from 1", () => {
    const { dataset, format, labelNames } = readLibsvm("+1 1:0.5 10:-1\n-1 3:2\n+1 2:1\n");
    expect(format).toBe("libsvm");
    expect(labelNames).toEqual(["-1", "1"]);
    expect(dataset.features.columns).toBe(10);
    expect(dataset.labels.columns).toBe(2);
    expect(rowsOf(dataset)).toEqual([
      {
        labels: [1],
        features: [
          [0, 0.5],
          [9, -1],
        ],
      },
      { labels: [0], features: [[2, 2]] },
      { labels: [1], features: [[1, 1]] },
    ]);
  });

  it("reads several labels, and numbers the distinct ones in ascending order", () => {
    const { dataset, labelNames } = readLibsvm("30,5 1:1\n7,30,-2 1:1\n100 1:1\n");
    expect(labelNames).toEqual(["-2", "5", "7", "30", "100"]);
    expect(rowsOf(dataset).map((row) => row.labels)).toEqual([[1, 3], [0, 2, 3], [4]]);
  });

  it("keeps and counts rows without labels or without features", () => {
    const { dataset, stats } = readLibsvm(" 1:1\n2:2\n3\n4,5 \n6 7:0.5\n", { labelValues: "ids" });
    expect(rowsOf(dataset)).toEqual([
      { labels: [], features: [[0, 1]] },
      { labels: [], features: [[1, 2]] },
      { labels: [3], features: [] },
      { labels: [4, 5], features: [] },
      { labels: [6], features: [[6, 0.5]] },
    ]);
    expect(stats.rowsWithoutLabels).toBe(2);
    expect(stats.rowsWithoutFeatures).toBe(2);
  });

  it("reads CRLF line ends, a byte order mark, runs of spaces and tabs, trailing space", () => {
    const plain = rows("1,2 3:4 5:6\n 7:8\n");
    expect(rows("1,2 3:4 5:6\r\n 7:8\r\n")).toEqual(plain);
    expect(rows("\uFEFF1,2 3:4 5:6\n 7:8\n")).toEqual(plain);
    expect(rows("\t 1,2 \t 3:4\t\t5:6 \t\n  7:8   ")).toEqual(plain);
  });

  it("does not count a byte order mark in columns", () => {
    expect(refusal("\uFEFF1 x\n").at).toEqual({ source: "train.svm", line: 1, column: 3 });
  });

  it("skips blank lines, and line numbers stay true", () => {
    const text = "\n1 2:3\n \t\r\n4 5:6\n\n";
    const { dataset, stats } = readLibsvm(text);
    expect(dataset.rows).toBe(2);
    expect(stats.blankLines).toBe(3);
    expect(refusal(`${text}x\n`).at).toEqual({ source: "train.svm", line: 6, column: 1 });
  });

  it("takes +1 and 1.0 as the label 1, and refuses 1.5", () => {
    expect(readLibsvm("+1 1:1\n1.0 1:1\n1 1:1\n1e0 1:1\n").labelNames).toEqual(["1"]);
    const error = refusal("1 1:1\n1.5 1:1\n");
    expect(error.code).toBe("BAD_LABEL");
    expect(error.message).toBe('train.svm:2:1: expected a whole number as label, received "1.5".');
    for (const label of ["nan", "inf", "a", "1,", "1,,2"]) {
      expect(refusal(`${label} 1:1\n`).code).toBe("BAD_LABEL");
    }
  });

  it("reads exponents and numbers without digits before the point", () => {
    expect(rows("0 1:1e2 2:.50 3:-2.5E-1 4:+4\n")[0]!.features).toEqual([
      [0, 100],
      [1, 0.5],
      [2, -0.25],
      [3, 4],
    ]);
  });

  it("gives the same for unsorted indices and labels as for sorted ones", () => {
    const sorted = readLibsvm("1,2,5 1:1 3:2 4:0.25 7:3\n5 1:1 2:2\n");
    const unsorted = readLibsvm("5,1,2 4:0.25 7:3 1:1 3:2\n5 2:2 1:1\n");
    expect(unsorted).toEqual(sorted);
  });

  it("refuses an index or a label twice in a row at its second place, unless told to merge", () => {
    const index = refusal("0 2:1 5:1 2:4\n");
    expect(index.code).toBe("DUPLICATE_INDEX");
    expect(index.at).toEqual({ source: "train.svm", line: 1, column: 11 });
    expect(index.message).toContain("index 2 occurs twice");
    const label = refusal("7 1:1\n5,7,5 1:1\n");
    expect(label.code).toBe("DUPLICATE_LABEL");
    expect(label.at).toEqual({ source: "train.svm", line: 2, column: 5 });
    expect(label.message).toContain("label 5 occurs twice");
    const merged = rows("3,4,3 2:1 5:1 2:0.5\n", { duplicates: "sum" });
    expect(merged).toEqual([
      {
        labels: [0, 1],
        features: [
          [1, 1.5],
          [4, 1],
        ],
      },
    ]);
  });

  it("refuses index 0 in text counted from 1, and names the cause", () => {
    const error = refusal("1 1:1\n1 0:1 2:3\n");
    expect(error.code).toBe("INDEX_ZERO");
    expect(error.at).toEqual({ source: "train.svm", line: 2, column: 3 });
    expect(error.message).toContain("indexBase: 0");
  });

  it("reads text counted from 0 when told so, and never guesses it", () => {
    expect(rows("1 0:1 2:3\n", { indexBase: 0 })[0]!.features).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(rows("1 1:1 2:3\n", { indexBase: 0 })[0]!.features).toEqual([
      [1, 1],
      [2, 3],
    ]);
    expect(rows("1 1:1 2:3\n")[0]!.features).toEqual([
      [0, 1],
      [1, 3],
    ]);
  });

  it.each(["nan", "-NaN", "inf", "Infinity", "1e39"])("refuses the value %s", (value) => {
    expect(refusal(`1 2:${value}\n`).code).toBe("NOT_FINITE");
  });

  it("refuses indices and labels above 2^32 before it allocates anything", () => {
    for (const row of [
      "0 4294967296:1",
      "0 99999999999999999999999:1",
      "4294967296 1:1",
      "-4294967296 1:1",
    ]) {
      const error = refusal(row);
      expect(error.code).toBe("TOO_LARGE");
      expect(error.message).toContain("below 4,294,967,29");
    }
    expect(rows("0 4294967295:1\n")[0]!.features).toEqual([[4294967294, 1]]);
    expect(readLibsvm("4294967294,-3 1:1\n").labelNames).toEqual(["-3", "4294967294"]);
  });

  it("refuses a missing space, and never parses half of it", () => {
    const error = refusal("1 13:1.0e-0114:8.7\n");
    expect(error.code).toBe("MISSING_SPACE");
    expect(error.at).toEqual({ source: "train.svm", line: 1, column: 3 });
    expect(refusal("1.0e-0114:8.7\n").code).toBe("BAD_INDEX");
  });

  it("skips qid: with one notice", () => {
    const { dataset, notices } = readLibsvm("1 qid:3 1:0.5\n2 qid:3 2:1\n");
    expect(rowsOf(dataset).map((row) => row.features)).toEqual([[[0, 0.5]], [[1, 1]]]);
    expect(notices).toEqual(["2 qid: entries were skipped."]);
    expect(readLibsvm("qid:1 1:1\n").stats.rowsWithoutLabels).toBe(1);
  });

  it("cuts comments, however long, and does not take comment lines for rows", () => {
    const long = `#${"x".repeat(200_000)}`;
    const text = `# head: 1:1\n1 1:2 # 5:5\n2 3:4# x\n3#x\n  # x\n4 5:6 ${long}\n${long}\n5 1:1 #`;
    const { dataset, stats } = readLibsvm(text);
    expect(rowsOf(dataset).map((row) => row.features)).toEqual([
      [[0, 2]],
      [[2, 4]],
      [],
      [[4, 6]],
      [[0, 1]],
    ]);
    expect(stats.blankLines).toBe(3);
  });

  it("takes the bounds that are given: narrower text fits, wider is refused or dropped", () => {
    expect(readLibsvm("1 2:1\n", { features: 9 }).dataset.features.columns).toBe(9);
    const error = refusal("1 2:1 10:1\n", { features: 9 });
    expect(error.code).toBe("TOO_WIDE");
    expect(error.message).toContain("train.svm:1:7: index 10, but at most 9 features");
    expect(rows("1 9:1\n", { features: 9 })[0]!.features).toEqual([[8, 1]]);
    const { dataset, stats } = readLibsvm("1 2:1 10:1\n", { features: 9, onWider: "drop" });
    expect(rowsOf(dataset)[0]!.features).toEqual([[1, 1]]);
    expect(stats.droppedFeatures).toBe(1);
  });

  it("reads test data with the training data's label names", () => {
    const { labelNames } = readLibsvm("7 1:1\n-1 1:1\n20 1:1\n");
    const names = labelNames ?? [];
    const test = readLibsvm("20 1:1\n7,-1 1:1\n", { labelNames: names });
    expect(rowsOf(test.dataset).map((row) => row.labels)).toEqual([[2], [0, 1]]);
    expect(test.dataset.labels.columns).toBe(3);
    expect(test.labelNames).toEqual(names);

    const error = refusal("7 1:1\n20,8 1:1\n", { labelNames: names });
    expect(error.code).toBe("UNKNOWN_LABEL");
    expect(error.message).toContain(
      'train.svm:2:4: label 8 is none of the 3 known ones ("-1", "7", "20")',
    );
    const dropped = readLibsvm("20,8 1:1\n8 1:1\n", { labelNames: names, onWider: "drop" });
    expect(rowsOf(dropped.dataset).map((row) => row.labels)).toEqual([[2], []]);
    expect(dropped.stats.droppedLabels).toBe(2);
    expect(dropped.stats.rowsWithoutLabels).toBe(1);
  });

  it("knows label names by their numbers, however they are written", () => {
    const { dataset } = readLibsvm("1 1:1\n-1,+7 1:1\n", { labelNames: ["-1", "+1", "07"] });
    expect(rowsOf(dataset).map((row) => row.labels)).toEqual([[1], [0, 2]]);
  });

  it("finds no label among names that are no whole numbers", () => {
    expect(refusal("1 1:1\n", { labelNames: ["one", "two", "three", "four"] }).message).toContain(
      '4 known ones ("one", "two", "three", …)',
    );
  });

  it("takes labels as ids where told so", () => {
    const { dataset, labelNames } = readLibsvm("5,0 1:1\n", { labelValues: "ids" });
    expect(labelNames).toBeNull();
    expect(dataset.labels.columns).toBe(6);
    expect(rowsOf(dataset)[0]!.labels).toEqual([0, 5]);
    const ids = { labelValues: "ids", labels: 5 } as const;
    expect(readLibsvm("3 1:1\n", ids).dataset.labels.columns).toBe(5);
    expect(refusal("5 1:1\n", ids).code).toBe("TOO_WIDE");
    expect(refusal("-1 1:1\n", ids).code).toBe("LABEL_OUT_OF_BOUNDS");
  });

  it("makes room for as many labels as asked, and refuses more", () => {
    expect(readLibsvm("7 1:1\n9 1:1\n", { labels: 5 }).dataset.labels.columns).toBe(5);
    expect(refusal("7 1:1\n9 1:1\n", { labels: 1 }).message).toContain(
      "2 different labels, but at most 1",
    );
  });

  it("refuses text without a row", () => {
    for (const text of ["", "\n\n", "# nothing\n"]) expect(refusal(text).code).toBe("EMPTY_INPUT");
  });

  it("treats wrong options as programming errors", () => {
    expect(() => createLibsvmReader({ indexBase: 2 as 1 })).toThrow(TypeError);
    expect(() => createLibsvmReader({ labelValues: "raw" as "ids" })).toThrow(TypeError);
    expect(() => createLibsvmReader({ labelValues: "ids", labelNames: ["1"] })).toThrow(TypeError);
  });
});
