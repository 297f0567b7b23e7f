import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { discardEvents } from "./discard-events.js";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "discard-events-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const events = () => join(folder, "events");
const discarded = () => join(folder, "discarded");
const text = (path: string) => readFileSync(path, "utf8");

test("what comes behind the position is appended to the other file, whole lines", async () => {
  writeFileSync(events(), "one\ntwo\nthree\nfo");
  const position = { bytes: 8, lines: 2 };
  expect(await discardEvents(events(), discarded(), position)).toEqual(position);
  expect(text(events())).toBe("one\ntwo\n");
  expect(text(discarded())).toBe("three\nfo\n");
  writeFileSync(events(), "one\ntwo\nfour\n");
  await discardEvents(events(), discarded(), position);
  expect(text(events())).toBe("one\ntwo\n");
  expect(text(discarded())).toBe("three\nfo\nfour\n");
});

test("nothing is discarded where nothing comes behind", async () => {
  writeFileSync(events(), "one\n");
  const position = { bytes: 4, lines: 1 };
  expect(await discardEvents(events(), discarded(), position)).toEqual(position);
  expect(existsSync(discarded())).toBe(false);
});

test.each([
  ["unknown", null],
  ["behind the end", { bytes: 100, lines: 9 }],
  ["within a line", { bytes: 5, lines: 1 }],
])("nothing stays where the position is %s", async (_, position) => {
  writeFileSync(events(), "one\ntwo\n");
  expect(await discardEvents(events(), discarded(), position)).toEqual({ bytes: 0, lines: 0 });
  expect(text(events())).toBe("");
  expect(text(discarded())).toBe("one\ntwo\n");
});

test("a stream that is missing is made", async () => {
  expect(await discardEvents(events(), discarded(), null)).toEqual({ bytes: 0, lines: 0 });
  expect(text(events())).toBe("");
});
