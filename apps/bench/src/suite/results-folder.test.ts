import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { madeUpRecord } from "./made-up-records.js";
import {
  isOfOtherSuite,
  openFolder,
  readRecord,
  readResults,
  standingOf,
  writeJson,
} from "./results-folder.js";
import { readSuite } from "./suite-file.js";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "heterosgd-results-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const record = madeUpRecord({ precision: [0.1] });
const present = {
  command: record.command,
  commit: record.environment.commit,
  versions: record.versions,
};

test("a run is run again only where it is missing, of another command or of other code", () => {
  expect(standingOf(null, present)).toBe("missing");
  expect(standingOf(record, present)).toBe("finished");
  expect(standingOf(record, { ...present, command: "heterosgd simulate --epochs 2" })).toBe(
    "other-command",
  );
  expect(standingOf(record, { ...present, commit: "d" })).toBe("other-version");
  const versions = { ...record.versions, heterosgd: "1.0.1" };
  expect(standingOf(record, { ...present, versions })).toBe("other-version");
});

test("results come back as they were written, drafts left out", () => {
  const suite = readSuite("averaging");
  openFolder(folder, suite);
  writeJson(join(folder, "runs", "a.json"), record);
  writeFileSync(join(folder, "runs", "b.json.draft"), "{");
  expect(readResults(folder)).toEqual({ suite, records: [record] });
  expect(readdirSync(folder)).toEqual(["runs", "suite.json"]);
});

test("a changed suite is noticed, the same one is not", () => {
  const suite = readSuite("averaging");
  expect(isOfOtherSuite(folder, suite)).toBe(false);
  openFolder(folder, suite);
  expect(isOfOtherSuite(folder, suite)).toBe(false);
  expect(isOfOtherSuite(folder, { ...suite, seeds: [4] })).toBe(true);
});

test.each([
  ["{}", "is no run's; delete it"],
  ["[]", "is no run's; delete it"],
  ["null", "is no run's; delete it"],
  [JSON.stringify({ ...record, format: 2 }), "is no run's; delete it"],
  [JSON.stringify(record).slice(0, 99), "cannot be read: "],
])("a damaged record is named: %s", (text, message) => {
  openFolder(folder, readSuite("averaging"));
  const path = join(folder, "runs", "a.json");
  writeFileSync(path, text);
  for (const read of [() => readRecord(path), () => readResults(folder)]) {
    expect(read).toThrow(`${path} ${message}`);
  }
});

test("a damaged suite is named", () => {
  const path = join(folder, "suite.json");
  writeFileSync(path, "{}");
  for (const read of [() => readResults(folder), () => isOfOtherSuite(folder, readSuite("real"))]) {
    expect(read).toThrow(`${path} is no suite's; delete it`);
  }
});

test("what is not there is missing, and what cannot be read is named", () => {
  const path = join(folder, "a.json");
  expect(readRecord(path)).toBeNull();
  writeFileSync(path, "{");
  expect(() => readRecord(path)).toThrow(`${path} cannot be read`);
  expect(() => readResults(folder)).toThrow(`${folder} holds no results`);
});
