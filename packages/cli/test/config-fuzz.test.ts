/** Config files of strangers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  changedBytes,
  changedJson,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
} from "../../../test-support/hostile-files.js";
import { fileLayer, resolveTraining } from "../src/config/resolve.js";
import { trainSchema } from "../src/config/schema.js";
import { CliError } from "../src/errors.js";

/** A key that is none is shown whole. */
const SHOWS_KEYS = 20_000;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heterosgd-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const original = {
  train: "a.txt",
  hidden: [64, 32],
  loss: "sigmoid",
  learningRate: 0.01,
  schedule: "step",
  epochs: 3,
  maxTime: "3m",
  devices: "cpu,cpu@0.5",
  cutoffs: [1, 3],
  seed: 7,
  force: true,
};

test("a config file that somebody has changed is taken or refused", fuzzTimeout, async () => {
  const file = join(folder, "config.json");
  const known = new Set(Object.keys(trainSchema.shape));
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        changedBytes(Buffer.from(JSON.stringify(original))),
        changedJson(original).map((document) => Buffer.from(JSON.stringify(document))),
      ),
      async (bytes) => {
        writeFileSync(file, bytes);
        const read = async () => resolveTraining([await fileLayer(trainSchema, file)]);
        const isRefusal = (error: Error) => error instanceof CliError;
        const config = await readOrRefuse(bytes.length, read, isRefusal, SHOWS_KEYS);
        if (config === undefined) return;
        taken++;
        expect(Object.keys(config).filter((key) => !known.has(key))).toEqual([]);
        expect(config.train === null || isAbsolute(config.train)).toBe(true);
      },
    ),
    fuzzParameters,
  );
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(fuzzCases);
});
