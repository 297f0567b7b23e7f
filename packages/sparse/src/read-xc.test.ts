import { describe, expect, it } from "vitest";
import { errorOf, rowsOf } from "../test/support.js";
import type { XcOptions } from "./read-options.js";
import { createXcReader, readXc } from "./read-xc.js";

const rows = (text: string, options?: XcOptions) => rowsOf(readXc(text, options).dataset);

function refusal(text: string, options: XcOptions = {}) {
  return errorOf(() => readXc(text, { source: "train.txt", ...options }));
}

describe("readXc", () => {
  it("reads a header, labels and features, all counted from 0", () => {
    const { dataset, format, labelNames, stats, notices } = readXc(
      "2 10 4\n0,3 0:0.5 9:-1.25\n2 1:3\n",
    );
    expect(format).toBe("xc");
    expect(labelNames).toBeNull();
    expect(dataset.features.columns).toBe(10);
    expect(dataset.labels.columns).toBe(4);
    expect(rowsOf(dataset)).toEqual([
      {
        labels: [0, 3],
        features: [
          [0, 0.5],
          [9, -1.25],
        ],
      },
      { labels: [2], features: [[1, 3]] },
    ]);
    expect(stats).toEqual({
      rowsWithoutFeatures: 0,
      rowsWithoutLabels: 0,
      blankLines: 0,
      droppedFeatures: 0,
      droppedLabels: 0,
    });
    expect(notices).toEqual([]);
  });

  it("keeps and counts rows without labels or without features", () => {
    const { dataset, stats } = readXc("5 9 9\n 1:1\n2:2\n3\n4,5 \n6 7:0.5\n");
    expect(rowsOf(dataset)).toEqual([
      { labels: [], features: [[1, 1]] },
      { labels: [], features: [[2, 2]] },
      { labels: [3], features: [] },
      { labels: [4, 5], features: [] },
      { labels: [6], features: [[7, 0.5]] },
    ]);
    expect(stats.rowsWithoutLabels).toBe(2);
    expect(stats.rowsWithoutFeatures).toBe(2);
  });

  it("reads CRLF line ends, a byte order mark, runs of spaces and tabs, trailing space", () => {
    const plain = rows("2 9 9\n1,2 3:4 5:6\n 7:8\n");
    expect(rows("2 9 9\r\n1,2 3:4 5:6\r\n 7:8\r\n")).toEqual(plain);
    expect(rows("\uFEFF2 9 9\n1,2 3:4 5:6\n 7:8\n")).toEqual(plain);
    expect(rows("  2\t 9  9 \n\t 1,2 \t 3:4\t\t5:6 \t\n  7:8   \n")).toEqual(plain);
    expect(rows("\uFEFF1,2 3:4 5:6\n7:8", { header: false })).toEqual(plain);
  });

  it("reads a last line without a line feed, and one that ends in a carriage return", () => {
    expect(rows("1 9 9\n1 2:3")).toEqual([{ labels: [1], features: [[2, 3]] }]);
    expect(rows("1 9 9\r\n1 2:3\r")).toEqual([{ labels: [1], features: [[2, 3]] }]);
    expect(rows("0 9 9")).toEqual([]);
  });

  it("refuses a carriage return within a line", () => {
    const error = refusal("2 9 9\n1 2:3\r1 2:3\n");
    expect(error.code).toBe("BAD_TOKEN");
    expect(error.message).toContain("train.txt:2:6: expected a line feed after a carriage return");
  });

  it("skips blank lines, and line numbers stay true", () => {
    const text = "\n \n2 9 9\n\n1 2:3\n\t\n4 5:6\n\n";
    const { dataset, stats } = readXc(text);
    expect(dataset.rows).toBe(2);
    expect(stats.blankLines).toBe(5);
    expect(refusal(`${text}x\n`).at).toEqual({ source: "train.txt", line: 9, column: 1 });
  });

  it("takes +1 and 1.0 as labels, and refuses 1.5", () => {
    expect(rows("1 9 9\n+1,2.0,3e0 1:1\n")[0]!.labels).toEqual([1, 2, 3]);
    const error = refusal("1 9 9\n1,1.5 1:1\n");
    expect(error.code).toBe("BAD_LABEL");
    expect(error.message).toBe('train.txt:2:3: expected a whole number as label, received "1.5".');
  });

  it.each(["a", ",1", "1,", "1,,2", "-", "nan", "1;2", "1 ,2", "1, 2"])(
    "refuses the labels %j",
    (labels) => {
      expect(["BAD_LABEL", "BAD_TOKEN"]).toContain(refusal(`1 9 9\n${labels} 1:1\n`).code);
    },
  );

  it("says what is missing where nothing was received", () => {
    expect(refusal("1 9 9\n1, 2 1:1\n").message).toContain(
      "2:3: expected a whole number as label, received white space",
    );
    expect(refusal("1 9 9\n1,\n").message).toContain(
      "2:3: expected a label after the comma, received the end of the line",
    );
    expect(refusal("1 9 9\n1 2:\n").message).toContain(
      "2:5: expected a decimal number as value, received the end of the line",
    );
  });

  it("reads exponents and numbers without digits before the point", () => {
    expect(rows("1 9 9\n0 0:1e2 1:.50 2:-2.5E-1 3:+4 4:5.\n")[0]!.features).toEqual([
      [0, 100],
      [1, 0.5],
      [2, -0.25],
      [3, 4],
      [4, 5],
    ]);
  });

  it("keeps zeros that are written out", () => {
    expect(rows("1 9 9\n0 0:0 1:0.0 2:-0\n")[0]!.features).toEqual([
      [0, 0],
      [1, 0],
      [2, -0],
    ]);
  });

  it("rounds every value as Math.fround(Number(text)) does", () => {
    const texts = [
      "0.1",
      "0.123456789",
      "123456789012345",
      "0.12345678901234567890",
      "16777217",
      "-3.4e38",
    ];
    const line = texts.map((text, i) => `${i}:${text}`).join(" ");
    expect(rows(`1 9 9\n0 ${line}\n`)[0]!.features).toEqual(
      texts.map((text, i) => [i, Math.fround(Number(text))]),
    );
  });

  it("rounds so too for 16 to 18 digits next to the middle of two float32", () => {
    const texts: string[] = [];
    for (let i = 0; i < 20_000; i++) {
      const middle = BigInt(2 * (2 ** 23 + 419 * i) + 1) * 2n ** BigInt(29 + (i % 7));
      texts.push(String(middle + BigInt((i % 81) - 40)));
    }
    const line = texts.map((text, i) => `${i}:${text}`).join(" ");
    const values = readXc(`1 ${texts.length} 1\n0 ${line}\n`).dataset.features.values;
    const wrong = texts.filter((text, i) => values[i] !== Math.fround(Number(text)));
    expect(wrong).toEqual([]);
  });

  it("gives the same for unsorted indices and labels as for sorted ones", () => {
    const sorted = readXc("2 9 9\n1,2,5 0:1 3:2 4:0.25 7:3\n0 1:1 2:2\n").dataset;
    const unsorted = readXc("2 9 9\n5,1,2 4:0.25 7:3 0:1 3:2\n0 1:1 2:2\n").dataset;
    expect(unsorted).toEqual(sorted);
  });

  it("refuses an index twice in a row at its second place, sorted or not", () => {
    const adjacent = refusal("3 9 9\n0 1:1\n0 2:1 2:1\n0 1:1\n");
    expect(adjacent.code).toBe("DUPLICATE_INDEX");
    expect(adjacent.at).toEqual({ source: "train.txt", line: 3, column: 7 });
    const apart = refusal("1 9 9\n0 2:1 5:1 2:4\n");
    expect(apart.at?.column).toBe(11);
    expect(apart.message).toContain("index 2 occurs twice");
    const label = refusal("1 9 9\n3,4,3 2:1\n");
    expect(label.code).toBe("DUPLICATE_LABEL");
    expect(label.at?.column).toBe(5);
  });

  it("adds duplicates up where asked to", () => {
    const options = { duplicates: "sum" } as const;
    expect(rows("2 9 9\n3,4,3 2:1 5:1 2:0.5 2:0.25\n1 5:1\n", options)).toEqual([
      {
        labels: [3, 4],
        features: [
          [2, 1.75],
          [5, 1],
        ],
      },
      { labels: [1], features: [[5, 1]] },
    ]);
    expect(refusal("1 9 9\n0 2:3e38 2:3e38\n", options).code).toBe("NOT_FINITE");
  });

  it.each(["nan", "NaN", "inf", "-inf", "Infinity", "+INF", "1e39", "-1e400"])(
    "refuses the value %s",
    (value) => {
      const error = refusal(`1 9 9\n0 1:1 2:${value} 3:1\n`);
      expect(error.code).toBe("NOT_FINITE");
      expect(error.at).toEqual({ source: "train.txt", line: 2, column: 9 });
      expect(error.message).toContain(JSON.stringify(value));
    },
  );

  it.each(["", "abc", "1.2.3", "0x1", "1_0", "--1", "1-", "1e", "1,5", "1f", "1#"])(
    "refuses the value %j",
    (value) => {
      const error = refusal(`1 9 9\n0 1:1 2:${value}\n`);
      expect(error.code).toBe("BAD_NUMBER");
      expect(error.at).toEqual({ source: "train.txt", line: 2, column: 9 });
    },
  );

  it("refuses a missing space, and never parses half of it", () => {
    const error = refusal("1 20 9\n0 13:1.0e-0114:8.7\n");
    expect(error.code).toBe("MISSING_SPACE");
    expect(error.message).toContain(
      'train.txt:2:3: expected one index:value, received "13:1.0e-0114:8.7"',
    );
    expect(refusal("1 20 9\n0 1:1.014:8.7\n").code).toBe("MISSING_SPACE");
    expect(refusal("1 20 9\n1.0e-0114:8.7\n").code).toBe("BAD_INDEX");
    expect(refusal("1 20 9\n0 1:1 :2\n").code).toBe("BAD_INDEX");
    expect(refusal("1 20 9\n0 1: 2\n").code).toBe("BAD_NUMBER");
  });

  it.each(["-1:2", "+1:2", "1.0:2", "a:2", "qid:2"])("refuses the index of %j", (token) => {
    const error = refusal(`1 9 9\n0 ${token}\n`);
    expect(error.code).toBe("BAD_INDEX");
    expect(error.message).toContain(`received "${token}"`);
  });

  it("refuses a second token without a colon", () => {
    const error = refusal("1 9 9\n0 1 2:3\n");
    expect(error.code).toBe("BAD_TOKEN");
    expect(error.message).toContain("separated by commas");
  });

  it("refuses comments", () => {
    for (const text of [
      "1 9 9\n0 1:1 # no\n",
      "1 9 9\n# no\n0 1:1\n",
      "1 9 9\n0#no 1:1\n",
      "1 9 9\n0 1:1# no\n",
    ]) {
      expect(["BAD_TOKEN", "BAD_LABEL", "BAD_NUMBER"]).toContain(refusal(text).code);
    }
    expect(refusal("1 9 9\n0 1:1 # no\n").message).toContain("XC text has no comments");
  });

  it("refuses an index or a label at its bound, with both numbers", () => {
    const index = refusal("1 5 4\n3 4:1 5:1\n");
    expect(index.code).toBe("INDEX_OUT_OF_BOUNDS");
    expect(index.message).toMatch(/^train\.txt:2:7: index 5, but the header says 5 features/);
    const label = refusal("1 5 4\n3,4 1:1\n");
    expect(label.code).toBe("LABEL_OUT_OF_BOUNDS");
    expect(label.message).toMatch(/^train\.txt:2:3: label 4, but the header says 4 labels/);
    expect(refusal("1 5 4\n-1 1:1\n").code).toBe("LABEL_OUT_OF_BOUNDS");
  });

  it("refuses more or fewer rows than the header says, with both numbers", () => {
    const many = refusal("1 9 9\n1 1:1\n2 2:2\n");
    expect(many.code).toBe("ROW_COUNT");
    expect(many.message).toContain("train.txt:3:1: the header says 1 rows, but this is row 2");
    const few = refusal("3 9 9\n1 1:1\n2 2:2\n");
    expect(few.code).toBe("ROW_COUNT");
    expect(few.message).toContain("the header says 3 rows, but the text ends after 2");
  });

  it.each(["1 9", "1 9 9 9", "a b c", "1 9 -9", "1.0 9 9", "0 1:1", "1,2 3:4"])(
    "refuses %j as a header",
    (header) => {
      const error = refusal(`\n${header}\n0 1:1\n`);
      expect(error.code).toBe("XC_HEADER");
      expect(error.message).toContain("train.txt:2:1: expected a header of three whole numbers");
      expect(error.message).toContain(JSON.stringify(header));
      expect(error.message).toContain("header: false");
    },
  );

  it("refuses counts and indices of 2^32 and more before it allocates anything", () => {
    for (const header of ["4294967296 1 1", "1 99999999999999999999999 1", "1 1 4294967296"]) {
      expect(refusal(`${header}\n0 0:1\n`).code).toBe("TOO_LARGE");
    }
    for (const row of [
      "0 4294967295:1",
      "0 4294967301:1", // 5, were it cut to 32 bits
      "0 99999999999999999999999:1",
      "4294967295 0:1",
      `1${"0".repeat(400)} 0:1`,
    ]) {
      expect(["TOO_LARGE", "BAD_LABEL"]).toContain(refusal(row, { header: false }).code);
    }
    expect(refusal("4294967294 1 1\n").code).toBe("ROW_COUNT");
    const wide = readXc("1 4294967295 4294967295\n4294967294 4294967294:1\n").dataset;
    expect(rowsOf(wide)).toEqual([{ labels: [4294967294], features: [[4294967294, 1]] }]);
  });

  it("keeps order among the largest indices", () => {
    const text = "1 4294967295 1\n0 4294967294:3 3000000000:2 2147483647:1 2147483648:5 7:0\n";
    expect(rows(text)[0]!.features.map(([index]) => index)).toEqual([
      7, 2147483647, 2147483648, 3000000000, 4294967294,
    ]);
    const ascending = "1 4294967295 1\n0 7:0 2147483647:1 2147483648:5\n";
    expect(rows(ascending)[0]!.features.map(([index]) => index)).toEqual([
      7, 2147483647, 2147483648,
    ]);
    expect(refusal("1 4294967295 1\n0 3000000000:1 3000000000:1\n").code).toBe("DUPLICATE_INDEX");
  });

  it("reads text without a header, its shape from the largest index and label", () => {
    const { dataset } = readXc("3 7:1\n1 0:1\n", { header: false });
    expect(dataset.features.columns).toBe(8);
    expect(dataset.labels.columns).toBe(4);
    const wider = readXc("3 7:1\n", { header: false, features: 100, labels: 50 }).dataset;
    expect(wider.features.columns).toBe(100);
    expect(wider.labels.columns).toBe(50);
  });

  it("widens text that is narrower than asked for", () => {
    const { dataset } = readXc("1 5 4\n3 4:1\n", { features: 10, labels: 20 });
    expect(dataset.features.columns).toBe(10);
    expect(dataset.labels.columns).toBe(20);
  });

  it("refuses text that is wider than asked for, with both numbers", () => {
    const features = refusal("1 12 4\n3 4:1\n", { features: 10 });
    expect(features.code).toBe("TOO_WIDE");
    expect(features.message).toContain(
      "train.txt:1:1: the header says 12 features, but at most 10",
    );
    expect(refusal("1 12 4\n3 4:1\n", { labels: 3 }).message).toContain("4 labels, but at most 3");
    const index = refusal("3 4:1 10:1\n", { header: false, features: 10 });
    expect(index.code).toBe("TOO_WIDE");
    expect(index.at).toEqual({ source: "train.txt", line: 1, column: 7 });
    expect(refusal("3 4:1\n", { header: false, labels: 3 }).code).toBe("TOO_WIDE");
  });

  it("drops and counts what is wider where asked to", () => {
    const { dataset, stats } = readXc("2 12 9\n1,3 4:1 10:1 11:1\n5,3 11:1\n", {
      features: 10,
      labels: 3,
      onWider: "drop",
    });
    expect(rowsOf(dataset)).toEqual([
      { labels: [1], features: [[4, 1]] },
      { labels: [], features: [] },
    ]);
    expect(dataset.features.columns).toBe(10);
    expect(stats.droppedFeatures).toBe(3);
    expect(stats.droppedLabels).toBe(3);
    expect(stats.rowsWithoutLabels).toBe(1);
    const bound = { features: 10, onWider: "drop" } as const;
    expect(refusal("1 12 4\n3 12:1\n", bound).code).toBe("INDEX_OUT_OF_BOUNDS");
  });

  it("refuses an empty text", () => {
    for (const text of ["", "\n\n", " "]) {
      expect(refusal(text).code).toBe("EMPTY_INPUT");
      expect(refusal(text, { header: false }).code).toBe("EMPTY_INPUT");
    }
  });

  it("reads lines of any length", () => {
    const length = 200_000;
    const features = Array.from({ length }, (_, i) => `${i}:${i % 7}`).join(" ");
    const labels = Array.from({ length: 20_000 }, (_, i) => i).join(",");
    const { dataset } = readXc(`1 ${length} 20000\n${labels} ${features}\n`);
    expect(dataset.features.indices.length).toBe(length);
    expect(dataset.labels.indices.length).toBe(20_000);
  });

  it("cuts received text short in messages, and shows what is no text", () => {
    const long = refusal(`1 9 9\n0 ${"x".repeat(5000)}\n`);
    expect(long.message.length).toBeLessThan(250);
    expect(long.message).toContain("…");
    expect(refusal("1 9 9\n0 \u0000\u0007\n").message).toContain(String.raw`"\u0000\u0007"`);
  });

  it("refuses a token that no number is as long as, without holding it all", () => {
    const reader = createXcReader({ header: false, source: "movie.bin" });
    const chunk = new Uint8Array(10_000).fill(49);
    const push = () => {
      for (let i = 0; i < 100; i++) reader.push(chunk);
    };
    const error = errorOf(push);
    expect(error.code).toBe("BAD_TOKEN");
    expect(error.message).toContain("movie.bin:1:1");
  });

  it("puts the data set into shared memory where asked to", () => {
    expect(readXc("0 1 1\n", { shared: true }).dataset.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(readXc("0 1 1\n").dataset.buffer).toBeInstanceOf(ArrayBuffer);
  });

  it("treats wrong options as programming errors", () => {
    expect(() => createXcReader({ features: -1 })).toThrow(RangeError);
    expect(() => createXcReader({ duplicates: "last" as "sum" })).toThrow(TypeError);
    expect(() => createXcReader({ onWider: "keep" as "drop" })).toThrow(TypeError);
  });
});
