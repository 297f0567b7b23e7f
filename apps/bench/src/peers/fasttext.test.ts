import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createDatasetBuilder } from "@heterosgd/sparse";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { createProgressReader, hitsIn, runFasttext } from "./fasttext.js";

const folder = mkdtempSync(join(tmpdir(), "fasttext-"));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
});

const settings = { threads: 1, batch: 8, hidden: 4, epochs: 2, rate: 0.1, maxSeconds: 30 };

/** A program that is called as fastText is and says what it says. */
function standIn(training: string): void {
  const source = `#!${process.execPath}
const { writeFileSync } = require("node:fs");
const [verb, ...rest] = process.argv.slice(2);
if (verb === "predict") console.log("__label__1\\n__label__0");
else {
  const model = rest[rest.indexOf("-output") + 1];
  process.stderr.write("\\rRead 0M words\\nNumber of words:  3\\nNumber of labels: 2\\n");
  ${training}
}
`;
  writeFileSync(join(folder, "fasttext"), source);
  chmodSync(join(folder, "fasttext"), 0o755);
}

function twoRows() {
  const builder = createDatasetBuilder({ features: 2, labels: 2 });
  for (const label of [1, 1]) builder.addRow({ features: [[0, 1]], labels: [label] });
  return builder.finish();
}

test("a training's time is from the words read until it is done, its model is then asked and removed", async () => {
  standIn(
    'setTimeout(() => { process.stderr.write("\\rProgress: 100.0% words"); writeFileSync(model + ".bin", ""); }, 300);',
  );
  const outcome = await runFasttext(folder, twoRows(), 10, settings);
  const [{ seconds, ...rest }] = outcome.milestones as [(typeof outcome.milestones)[number]];
  expect(rest).toEqual({ rows: 20, precision: 0.5 });
  expect(seconds).toBeGreaterThan(0.25);
  expect(outcome.stopped).toBe(false);
  expect(existsSync(join(folder, "fasttext.bin"))).toBe(false);
});

test("a training that is stopped has a speed and no precision, one that aborts is an error", async () => {
  const half = 'process.stderr.write("\\rProgress: 50.0% words");';
  standIn(`setTimeout(() => { ${half} }, 100); setTimeout(() => undefined, 60_000);`);
  const outcome = await runFasttext(folder, twoRows(), 10, { ...settings, maxSeconds: 3 });
  expect(outcome).toMatchObject({ stopped: true, milestones: [{ rows: 10, precision: null }] });
  standIn(`${half} console.error("Encountered NaN."); process.abort();`);
  await expect(runFasttext(folder, twoRows(), 10, settings)).rejects.toThrow("Encountered NaN.");
});

test("its progress is read out of what it prints over and over", () => {
  const text =
    "\rProgress:   0.3% words/sec/thread:   10 lr:  0.99 avg.loss:  6.6 ETA:   0h 0m 2s" +
    "\rProgress: 100.0% words/sec/thread: 9050 lr:  0.00 avg.loss:  1.4 ETA:   0h 0m 0s\n";
  expect(createProgressReader()(text)).toEqual([0.003, 1]);
  expect(createProgressReader()("Read 0M words\n")).toEqual([]);
  const inPieces = createProgressReader();
  expect(Array.from(text).flatMap((letter) => inPieces(letter))).toEqual([0.003, 1]);
});

test("a prediction counts if it is among the row's labels; rows without labels count as missed", () => {
  const builder = createDatasetBuilder({ features: 4, labels: 20 });
  for (const labels of [[1, 12], [], [2], [3]]) builder.addRow({ features: [[0, 1]], labels });
  const held = builder.finish();
  expect(hitsIn("__label__12\n__label__1\n__label__1\n\n", held)).toBe(1);
  expect(hitsIn("__label__1\n__label__5\n__label__2\n__label__3\n", held)).toBe(3);
});
