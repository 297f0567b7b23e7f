import { expect, test } from "vitest";
import { lineBlocks } from "./line-blocks.js";
import { rowBlocks, type RowStreamOptions } from "./row-stream.js";

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const options: RowStreamOptions = {
  source: "standard input",
  format: "auto",
  usual: "xc",
  text: { features: 10 },
  maxRows: 2,
};

/** Rows as `line: feature:value …`. */
async function rowsOf(text: string, changes: Partial<RowStreamOptions> = {}, size = 7) {
  const rows: string[] = [];
  for await (const { dataset, lines } of rowBlocks(pieces(text, size), {
    ...options,
    ...changes,
  })) {
    const { offsets, indices, values } = dataset.features;
    expect(dataset.rows).toBe(lines.length);
    for (const [row, line] of lines.entries()) {
      const entries = [...indices.keys()].slice(offsets[row], offsets[row + 1]);
      rows.push(`${line}: ${entries.map((i) => `${indices[i]}:${values[i]}`).join(" ")}`);
    }
  }
  return rows;
}

test.each([1, 2, 3, 5, 1000])("lines come whole in pieces of %i bytes", async (size) => {
  const text = "a\nbb\r\n\nddd ü\ne";
  const lines: string[] = [];
  for await (const block of lineBlocks(pieces(text, size), 2)) {
    expect(block.firstLine).toBe(lines.length + 1);
    expect(block.lines.length).toBeLessThanOrEqual(2);
    lines.push(...block.lines);
  }
  expect(lines).toEqual(["a", "bb\r", "", "ddd ü", "e"]);
});

test("lines are handed on as soon as they are there", async () => {
  let wanted = 0;
  async function* typing(): AsyncGenerator<Uint8Array> {
    for (const text of ["0:1\n", "1:1\n"]) {
      wanted++;
      yield new TextEncoder().encode(text);
    }
  }
  const blocks = rowBlocks(typing(), options);
  await blocks.next();
  expect(wanted).toBe(1);
  await blocks.return(undefined);
});

test("rows of xc text need no header, and one is passed over", async () => {
  const rows = ["1: 0:1 3:0.5", "2: 9:2"];
  expect(await rowsOf("4,5 0:1 3:.5\n9:2\n")).toEqual(rows);
  expect(await rowsOf("\uFEFF2 10 7\n4,5 0:1 3:.5\n9:2")).toEqual(["2: 0:1 3:0.5", "3: 9:2"]);
});

test("a first line like a header is refused where the text is said to have none", async () => {
  await expect(rowsOf("2 10 7\n", { format: "xc-rows" })).rejects.toMatchObject({
    at: { line: 1 },
  });
});

test("libsvm text counts features from where it is told to, whatever its labels", async () => {
  const text = "-1 1:1\n+1 10:2 # note\n# nothing\n\n 2:3\n";
  const libsvm = { format: "libsvm", text: { features: 10, indexBase: 1 } } as const;
  expect(await rowsOf(text, libsvm)).toEqual(["1: 0:1", "2: 9:2", "5: 1:3"]);
  expect(await rowsOf(text, { ...libsvm, format: "auto", usual: "libsvm" })).toEqual([
    "1: 0:1",
    "2: 9:2",
    "5: 1:3",
  ]);
});

test("lines that hold nothing are no rows, but are counted", async () => {
  expect(await rowsOf("\n\n0:1\n \t\r\n1:1\n\n\n\n2:1")).toEqual(["3: 0:1", "5: 1:1", "9: 2:1"]);
  expect(await rowsOf("")).toEqual([]);
  expect(await rowsOf("\n\n")).toEqual([]);
});

test("errors name line and column of the whole text", async () => {
  const text = "0:1\n1:1\n2:1\n3:1\n0:1 1:x\n";
  await expect(rowsOf(text)).rejects.toMatchObject({
    code: "BAD_NUMBER",
    at: { source: "standard input", line: 5 },
    message: expect.stringMatching(/^standard input:5:\d+: [^:]*x/) as string,
  });
});

test("rows before a line that is wrong come first", async () => {
  const rows: number[] = [];
  const reading = async () => {
    for await (const { dataset, lines } of rowBlocks(
      pieces("4 10 7\n0:1\n\n1:1\n2:x\n3:1\n", 1000),
      {
        ...options,
        maxRows: 100,
      },
    )) {
      expect(dataset.rows).toBe(lines.length);
      rows.push(...lines);
    }
  };
  await expect(reading()).rejects.toMatchObject({ at: { line: 5 } });
  expect(rows).toEqual([2, 4]);
});

test("what is dropped is counted", async () => {
  let dropped = 0;
  const text = { features: 10, onWider: "drop" } as const;
  for await (const block of rowBlocks(pieces("1:1 10:1 11:1\n0:1 12:1\n", 5), {
    ...options,
    text,
  })) {
    dropped += block.droppedFeatures;
  }
  expect(dropped).toBe(3);
});

test("features that the model lacks are refused or dropped", async () => {
  await expect(rowsOf("1:1 10:1\n")).rejects.toMatchObject({ code: "TOO_WIDE" });
  expect(await rowsOf("1:1 10:1\n", { text: { features: 10, onWider: "drop" } })).toEqual([
    "1: 1:1",
  ]);
});
