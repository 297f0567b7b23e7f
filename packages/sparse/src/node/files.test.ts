import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { rejectionOf, rowsOf } from "../../test/support.js";
import { datasetFromRows } from "../builder.js";
import { allocateShared } from "../layout.js";
import { selectRows } from "../slice.js";
import { datasetFingerprint } from "./fingerprint.js";
import { readDatasetFile } from "./read-file.js";
import { readNames } from "./read-names.js";
import { writeDatasetFile } from "./write-file.js";

const folder = mkdtempSync(join(tmpdir(), "sparse-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const many = `30000 9 9\n${"1,2 3:4 5:0.25\n".repeat(30_000)}`;
const expected = [{ labels: [1], features: [[2, 0.5]] }];

describe("readDatasetFile", () => {
  it("reads plain and gzip files, told apart by their bytes, not their names", async () => {
    const text = "1 9 9\n1 2:0.5\n";
    for (const path of [file("plain.gz", text), file("packed.txt", gzipSync(text))]) {
      const { dataset, format } = await readDatasetFile(path);
      expect(format).toBe("xc");
      expect(rowsOf(dataset)).toEqual(expected);
    }
  });

  it("reads gzip files of several members", async () => {
    const members = [gzipSync("2 9 9\n1 2:0"), gzipSync(""), gzipSync(".5\n3 4:1\n")];
    const { dataset } = await readDatasetFile(file("members.gz", Buffer.concat(members)));
    expect(rowsOf(dataset)).toEqual([...expected, { labels: [3], features: [[4, 1]] }]);
  });

  it("reads files that are longer than its chunks", async () => {
    for (const content of [many, gzipSync(many)]) {
      const { dataset } = await readDatasetFile(file("many", content), { shared: true });
      expect(dataset.rows).toBe(30_000);
      expect(dataset.features.indices.length).toBe(60_000);
      expect(dataset.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  });

  it("passes options on, and takes text without an XC header for LIBSVM", async () => {
    const path = file("short.svm", "-1 1:2\n+1 3:1\n");
    const { format, labelNames } = await readDatasetFile(path);
    expect(format).toBe("libsvm");
    expect(labelNames).toEqual(["-1", "1"]);
    const zeroBased = await readDatasetFile(path, { format: "libsvm", indexBase: 0 });
    expect(zeroBased.dataset.features.indices[0]).toBe(1);
  });

  it("names the file, the line and the column of what is wrong in it", async () => {
    const path = file("bad.txt", gzipSync("2 9 9\n1 2:3\n1 2:x\n"));
    const error = await rejectionOf(readDatasetFile(path));
    expect(error.message).toMatch(`${path}:3:5: expected a decimal number`);
    expect(error.at).toEqual({ source: path, line: 3, column: 5 });
  });

  it("is named by its path where no other name is given", async () => {
    const path = file("named.txt", "1 9 9\n1 2:x\n");
    expect((await rejectionOf(readDatasetFile(path, { source: undefined }))).at?.source).toBe(path);
    expect((await rejectionOf(readDatasetFile(path, { source: "-" }))).at?.source).toBe("-");
  });

  it("answers a missing file, a directory and an empty file with one line each", async () => {
    for (const [path, code, reason] of [
      [join(folder, "nowhere.txt"), "FILE_NOT_FOUND", "does not exist"],
      [join(file("some.txt", ""), "below.txt"), "FILE_NOT_FOUND", "does not exist"],
      [folder, "IS_DIRECTORY", "is a directory"],
      [file("empty.txt", ""), "EMPTY_FILE", "is empty"],
      [file("empty.gz", gzipSync("")), "EMPTY_FILE", "is empty"],
      [file("blank.txt", "\n"), "EMPTY_INPUT", "no data"],
      [join(folder, "x".repeat(300)), "NOT_READABLE", "cannot be read"],
    ] as const) {
      const error = await rejectionOf(readDatasetFile(path));
      expect(error.code).toBe(code);
      expect(error.message).toContain(path);
      expect(error.message).toContain(reason);
      expect(error.message).not.toContain("\n");
    }
  });

  it("answers gzip files that are cut off, wherever, with one line", async () => {
    const packed = gzipSync(many);
    for (const length of [2, 5, 10, 11, Math.floor(packed.length / 2), packed.length - 1]) {
      const path = file("cut.gz", packed.subarray(0, length));
      const error = await rejectionOf(readDatasetFile(path));
      expect(error.code, `cut at ${length}`).toBe("TRUNCATED_GZIP");
      expect(error.message).toBe(
        `${path} is cut off: its gzip data ends early. Fetch or copy it again.`,
      );
    }
  });

  it("answers damaged gzip files", async () => {
    const packed = gzipSync(many);
    for (const place of [3, packed.length - 6, packed.length - 2]) {
      const damaged = Uint8Array.from(packed);
      damaged[place]! ^= 0xff;
      const error = await rejectionOf(readDatasetFile(file("damaged.gz", damaged)));
      expect(error.code, `damaged at ${place}`).toBe("CORRUPT_GZIP");
    }
  });

  it("names the other compressions that it cannot read", async () => {
    const error = await rejectionOf(readDatasetFile(file("a.bz2", "BZh91AY&SY")));
    expect(error.code).toBe("UNSUPPORTED_COMPRESSION");
    expect(error.message).toContain("a bzip2 file");
    expect(
      (await rejectionOf(readDatasetFile(file("a.zip", "PK\u0003\u0004..")))).message,
    ).toContain("zip");
  });

  it("stops when told to", async () => {
    const reason = new Error("enough");
    const reading = readDatasetFile(file("stopped", many), { signal: AbortSignal.abort(reason) });
    await expect(reading).rejects.toBe(reason);
  });
});

describe("readNames", () => {
  it("reads a name a line, or what is behind the first tab, plain or gzip", async () => {
    const text = "\uFEFFone\r\n0002\ttwo words\nthr\u00e9e\n";
    const names = ["one", "two words", "thr\u00e9e"];
    expect(await readNames(file("names.txt", text))).toEqual(names);
    expect(await readNames(file("names.gz", gzipSync(text)))).toEqual(names);
    expect(await readNames(file("names.txt", "one\ntwo\n\n"))).toEqual(["one", "two"]);
  });

  it("refuses an empty line between names, since numbers would shift", async () => {
    for (const text of ["one\n\nthree\n", "one\n2\t\nthree\n"]) {
      const path = file("gap.txt", text);
      const error = await rejectionOf(readNames(path));
      expect(error.code).toBe("BAD_NAMES");
      expect(error.at).toEqual({ source: path, line: 2, column: 1 });
    }
  });

  it("goes by the numbers before the tabs where they count the lines", async () => {
    const names = await readNames(file("numbered.txt", "2\ttwo\n0\tzero\n1\tone\n"));
    expect(names).toEqual(["zero", "one", "two"]);
  });

  it("goes by the lines where they count from 1 in order, or are identifiers of another kind", async () => {
    for (const ids of [
      ["1", "2", "3"],
      ["03", "02", "01"],
      ["00001740", "00002137", "00001930"],
      ["900", "800", "700"],
      ["2", "1", "x"],
    ]) {
      const text = ids.map((id, i) => `${id}\tname ${i}\n`).join("");
      expect(await readNames(file("ids.txt", text))).toEqual(["name 0", "name 1", "name 2"]);
    }
  });

  it("refuses numbers that are given twice, leave one out or count from 1 out of order", async () => {
    for (const [text, line] of [
      ["0\ta\n1\tb\n1\tc\n", 3],
      ["0\ta\n3\tb\n1\tc\n", 2],
      ["2\ta\n1\tb\n3\tc\n", 3],
    ] as const) {
      const path = file("numbers.txt", text);
      const error = await rejectionOf(readNames(path));
      expect(error.code).toBe("BAD_NAMES");
      expect(error.at?.line).toBe(line);
    }
  });

  it("refuses a file without names", async () => {
    expect((await rejectionOf(readNames(file("none.txt", "")))).code).toBe("EMPTY_FILE");
    expect((await rejectionOf(readNames(file("none.txt", "\n")))).code).toBe("BAD_NAMES");
  });
});

describe("writeDatasetFile", () => {
  const dataset = datasetFromRows([{ features: [[1, 0.1]], labels: [0] }], {
    features: 3,
    labels: 2,
  });

  it("writes what readDatasetFile reads, packed if the name ends in .gz", async () => {
    const plain = join(folder, "out.txt");
    const packed = join(folder, "out.txt.gz");
    await writeDatasetFile(plain, dataset, { format: "xc" });
    await writeDatasetFile(packed, dataset, { format: "xc" });
    expect(readFileSync(plain, "utf8")).toBe("1 3 2\n0 1:0.1\n");
    expect([...readFileSync(packed).subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    expect((await readDatasetFile(packed)).dataset).toEqual(dataset);
  });

  it("writes LIBSVM text with its options", async () => {
    const path = join(folder, "out.svm");
    await writeDatasetFile(path, dataset, {
      format: "libsvm",
      labelNames: ["7", "8"],
      indexBase: 0,
    });
    expect(readFileSync(path, "utf8")).toBe("7 1:0.1\n");
  });

  it("leaves an older file as it was when it fails, and no other behind", async () => {
    const path = file("kept.txt", "old");
    const empty = datasetFromRows([{ features: [], labels: [] }]);
    expect((await rejectionOf(writeDatasetFile(path, empty, { format: "xc" }))).code).toBe(
      "EMPTY_ROW",
    );
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(() => readFileSync(`${path}.partial`)).toThrow("ENOENT");
    const nowhere = join(folder, "no", "where.txt");
    const error = await rejectionOf(writeDatasetFile(nowhere, dataset, { format: "xc" }));
    expect(error.code).toBe("NOT_WRITABLE");
    expect(error.message).toContain(nowhere);
  });
});

describe("datasetFingerprint", () => {
  it("is equal for equal data, whatever memory it is in, and differs for other data", () => {
    const dataset = datasetFromRows([{ features: [[1, 0.1]], labels: [0] }]);
    const shared = selectRows(dataset, Uint32Array.of(0), allocateShared);
    expect(datasetFingerprint(shared)).toBe(datasetFingerprint(dataset));
    expect(datasetFingerprint(dataset)).toMatch(/^[0-9a-f]{64}$/);
    shared.features.values[0] = 0.2;
    expect(datasetFingerprint(shared)).not.toBe(datasetFingerprint(dataset));
  });
});
