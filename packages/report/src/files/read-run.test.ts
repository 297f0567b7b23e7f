import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { shortRun } from "../../test/made-up-run.js";
import { seriesOf } from "../../test/figures.js";
import { readRun } from "./read-run.js";

const folder = mkdtempSync(join(tmpdir(), "heterosgd-report-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "events.jsonl");
const lines = shortRun.map((event) => JSON.stringify(event));

test("a run is read as its events were collected, whatever ends its lines", async () => {
  for (const end of ["\n", "\r\n"]) {
    writeFileSync(file, lines.map((line) => line + end).join(""));
    expect(await readRun(file, "made-up")).toEqual({ run: seriesOf(shortRun), unread: 0 });
  }
  writeFileSync(file, lines.join("\n"));
  expect(await readRun(file, "made-up")).toEqual({ run: seriesOf(shortRun), unread: 0 });
});

test("a half-written last line is told and left out", async () => {
  writeFileSync(file, `${lines.slice(0, 5).join("\n")}\n${lines[5]!.slice(0, 20)}`);
  const { run, unread } = await readRun(file, "made-up");
  expect(unread).toBe(1);
  expect(run).toEqual(seriesOf(shortRun.slice(0, 5)));
});

test("a line longer than any event is left out, and nothing else", async () => {
  const long = `{"at":1,"type":"${"x".repeat(2 ** 24)}"}`;
  writeFileSync(file, [...lines.slice(0, 2), long, ...lines.slice(2), long].join("\n"));
  expect(await readRun(file, "made-up")).toEqual({ run: seriesOf(shortRun), unread: 2 });
});

test.each([
  ["nothing", ""],
  ["no JSON", "start\nend\n"],
  ["no events", "[]\n{}\n3\n"],
  ["no start", `${lines[1]}\n`],
])("a file that holds %s is refused", async (_, text) => {
  writeFileSync(file, text);
  await expect(readRun(file, "made-up")).rejects.toMatchObject({
    code: "NO_DATA",
    message: expect.stringContaining(file),
  });
});
