/** Files of strangers: whatever they hold, they are read or refused, soon and in bounded memory. */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  changedBytes,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
} from "../../../test-support/hostile-files.js";
import { runLimited } from "../../../test-support/limited-process.js";
import {
  createDataset,
  createTextReader,
  datasetFrom,
  datasetFromRows,
  SparseError,
  type Dataset,
  type TextOptions,
} from "../src/index.js";
import { readDatasetFile, readNames } from "../src/node.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sparse-hostile-"));
});
afterAll(() => rm(folder, { recursive: true }));

const isRefusal = (error: Error) => error instanceof SparseError;

/** What every data set keeps to that a reader returns. */
function expectSound(dataset: Dataset): void {
  expect(datasetFrom(dataset.buffer)).toEqual(dataset);
}

const xc = "4 40 9\n1,2 3:0.25 7:1e-3 12:4\n0 0:1\n8 39:-2.5 2:1\n 5:6.25\n";
const libsvm = "+1 1:0.5 7:2 # here\n-1 qid:3 2:1e2\n\n2,3 4:1 3:7\n";
const options = fc.constantFrom<TextOptions>(
  {},
  { format: "xc", duplicates: "sum" },
  { header: false },
  { format: "libsvm", labelValues: "ids", indexBase: 0 },
  { format: "libsvm", features: 9, labels: 4, onWider: "drop", duplicates: "sum" },
  { format: "libsvm", labelNames: ["-1", "__proto__", "constructor", "2"], onWider: "drop" },
);

describe("files that somebody has changed", () => {
  test.each([
    ["XC text", xc],
    ["LIBSVM text", libsvm],
  ])("of %s are read or refused", fuzzTimeout, async (_, text) => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(changedBytes(Buffer.from(text)), options, async (bytes, how) => {
        const result = await readOrRefuse(
          bytes.length,
          () => {
            const reader = createTextReader(how);
            reader.push(bytes);
            return reader.finish();
          },
          isRefusal,
        );
        if (result === undefined) return;
        read++;
        expectSound(result.dataset);
      }),
      fuzzParameters,
    );
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(fuzzCases);
  });

  test("of packed text are read or refused", fuzzTimeout, async () => {
    const path = join(folder, "packed.gz");
    const packed = Buffer.concat([gzipSync(xc.slice(0, 30)), gzipSync(xc.slice(30))]);
    let read = 0;
    await fc.assert(
      fc.asyncProperty(changedBytes(packed), async (bytes) => {
        await writeFile(path, bytes);
        const result = await readOrRefuse(bytes.length, () => readDatasetFile(path), isRefusal);
        if (result !== undefined) read++;
      }),
      fuzzParameters,
    );
    expect(read).toBeLessThan(fuzzCases);
  });

  test("of names are read or refused", fuzzTimeout, async () => {
    const path = join(folder, "names.txt");
    const names = Buffer.from("1\ttwo\n0\t__proto__\n2\tconstructor\n3\t\u00e9t\u00e9\n");
    let read = 0;
    await fc.assert(
      fc.asyncProperty(changedBytes(names), async (bytes) => {
        await writeFile(path, bytes);
        const result = await readOrRefuse(bytes.length, () => readNames(path), isRefusal);
        if (result === undefined) return;
        read++;
        expect(result.every((name) => typeof name === "string" && name !== "")).toBe(true);
      }),
      fuzzParameters,
    );
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(fuzzCases);
  });

  test("of a data set's buffer are taken or refused", fuzzTimeout, async () => {
    const dataset = datasetFromRows(
      [
        {
          features: [
            [1, 0.5],
            [4, 2],
          ],
          labels: [0, 2],
        },
        { features: [], labels: [] },
        { features: [[3, -1]], labels: [1] },
      ],
      { features: 5, labels: 3 },
    );
    const word = fc.record({
      at: fc.nat(dataset.buffer.byteLength / 4 - 1),
      value: fc.oneof(fc.nat(9), fc.constantFrom(2 ** 31, 2 ** 32 - 1, 2 ** 30), fc.nat()),
    });
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          changedBytes(new Uint8Array(dataset.buffer)).map((bytes) => Uint8Array.from(bytes)),
          fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => {
            const changed = new Uint32Array(dataset.buffer.slice(0));
            for (const { at, value } of words) changed[at] = value;
            return new Uint8Array(changed.buffer);
          }),
        ),
        async ({ buffer }) => {
          const again = await readOrRefuse(buffer.byteLength, () => datasetFrom(buffer), isRefusal);
          if (again === undefined) return;
          taken++;
          expect(again.features.offsets.at(-1)).toBe(again.features.indices.length);
          expect(again.features.values.every(Number.isFinite)).toBe(true);
          expect(again.features.indices.every((index) => index < again.features.columns)).toBe(
            true,
          );
        },
      ),
      fuzzParameters,
    );
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(fuzzCases);
  });

  test("by its header alone claim no memory", async () => {
    for (const counts of ["4294967295 4294967295 4294967295", "4294967296 1 1"]) {
      const text = `${counts}\n0 0:1\n`;
      const read = () => {
        const reader = createTextReader();
        reader.push(Buffer.from(text));
        return reader.finish();
      };
      expect(await readOrRefuse(text.length, read, isRefusal)).toBeUndefined();
    }
    const header = new Uint32Array(
      createDataset({ rows: 1, features: 1, labels: 1, nonZeros: 1, labelEntries: 1 }).buffer,
    );
    header.fill(2 ** 32 - 1, 2, 7);
    const claim = () => datasetFrom(header.buffer);
    expect(await readOrRefuse(header.byteLength, claim, isRefusal)).toBeUndefined();
  });
});

/** Packs a piece of text, repeated, behind a start. */
async function bomb(
  name: string,
  start: string,
  piece: string,
  mebibytes: number,
): Promise<string> {
  const path = join(folder, name);
  const block = Buffer.from(piece.repeat(Math.ceil(2 ** 20 / piece.length)));
  const pieces = function* (): Generator<Buffer> {
    yield Buffer.from(start);
    for (let i = 0; i < mebibytes; i++) yield block;
  };
  await pipeline(Readable.from(pieces()), createGzip({ level: 1 }), createWriteStream(path));
  return path;
}

const program = "packages/sparse/test/read-limited.ts";
const minutes = { timeout: 180_000 };

describe("a little file that unpacks to a large one is read in bounded memory, or refused", () => {
  test.each([
    ["of nothing", "", "\n", "EMPTY_INPUT"],
    ["of spaces", "", " ", "EMPTY_INPUT"],
    ["of zeros", "", "\0", "BAD_TOKEN"],
    ["of one number", "1 9 9\n0 ", "7", "BAD_TOKEN"],
    ["of a row of equal features", "1 9 9\n0 ", "1:1 ", "TOO_LARGE"],
    ["of empty lines behind a row", "1 9 9\n0 1:1\n", "\n", "TOO_LARGE"],
  ])("%s", minutes, async (_, start, piece, code) => {
    const path = await bomb("bomb.gz", start, piece, 100);
    const { error, mebibytes } = await runLimited(program, {
      path,
      as: "data",
      options: { duplicates: "sum" },
    });
    expect(error).toMatchObject({ name: "SparseError", code });
    expect(mebibytes).toBeLessThan(700);
  });

  test.each([
    ["a name without end", "", "x", "BAD_NAMES"],
    ["as many names as no network has", "", "x\n", "BAD_NAMES"],
  ])("%s", minutes, async (_, start, piece, code) => {
    const path = await bomb("names.gz", start, piece, 100);
    const { error, mebibytes } = await runLimited(program, { path, as: "names" });
    expect(error).toMatchObject({ name: "SparseError", code });
    expect(mebibytes).toBeLessThan(700);
  });

  test("but what is packed well is read where it is not large", minutes, async () => {
    const path = await bomb("well.gz", "", "1 1:1\n", 20);
    const { result } = await runLimited(program, {
      path,
      as: "data",
      options: { format: "libsvm" },
    });
    expect(result).toMatchObject({ rows: 20 * Math.ceil(2 ** 20 / 6) });
  });
});

test.each([100, 70_000])(
  "a feature is named that occurs twice in a row of %i, and where if it is not too long",
  (length) => {
    const others = Array.from({ length }, (_, i) => `${length - i}:1`);
    const text = `0 ${others.join(" ")} 2:1\n`;
    const column = length === 100 ? text.lastIndexOf("2:1") + 1 : 1;
    const reader = createTextReader({ header: false });
    const read = () => {
      reader.push(Buffer.from(text));
      return reader.finish();
    };
    expect(read).toThrow(`text:1:${column}: index 2 occurs twice in this row`);
  },
);
