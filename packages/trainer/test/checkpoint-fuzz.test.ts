/** Files of strangers, whose sums match. */
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parameterLayout } from "@heterosgd/model";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  changedBytes,
  changedJson,
  fuzzCases,
  fuzzParameters,
  fuzzTimeout,
  readOrRefuse,
} from "../../../test-support/hostile-files.js";
import {
  checkpointFiles,
  formatManifest,
  parseManifest,
  type CheckpointFile,
} from "../src/checkpoint/manifest.js";
import { openCheckpoint } from "../src/checkpoint/open-checkpoint.js";
import { checkRecord } from "../src/checkpoint/record.js";
import { parseSafeJson } from "../src/checkpoint/safe-json.js";
import { writeCheckpoint } from "../src/checkpoint/write-checkpoint.js";
import { TrainerError } from "../src/index.js";
import { emptyArrays, randomCheckpoint, temporaryFolder } from "./random-checkpoint.js";

let folder: string;
let path: string;
const contents = randomCheckpoint(11);
const { length } = parameterLayout(contents.record.shape);
const originals = new Map<CheckpointFile, Buffer>();

beforeAll(async () => {
  folder = await temporaryFolder();
  path = (await writeCheckpoint(folder, contents)).path;
  for (const name of checkpointFiles) originals.set(name, await readFile(join(path, name)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Puts a file in place of the checkpoint's, with a `DONE` whose sums are right. */
async function forge(replaced: CheckpointFile, by: Uint8Array): Promise<void> {
  const files = new Map<CheckpointFile, Uint8Array>([...originals, [replaced, by]]);
  const sums = checkpointFiles.flatMap((name) => {
    const bytes = files.get(name);
    if (bytes === undefined) return [];
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return [{ name, bytes: bytes.length, sha256 }];
  });
  await writeFile(join(path, replaced), by);
  await writeFile(join(path, "DONE"), formatManifest({ step: 100, files: sums }));
}

function isRefusal(error: unknown): error is TrainerError {
  const codes = ["CHECKPOINT_DAMAGED", "CHECKPOINT_FORMAT"];
  return error instanceof TrainerError && codes.includes(error.code);
}

const sizeOfAll = () => [...originals.values()].reduce((sum, { length: bytes }) => sum + bytes, 0);

/** Whether all of the checkpoint is read; false where it is refused as it should be. */
async function isRead(): Promise<boolean> {
  const read = async () => {
    const checkpoint = await openCheckpoint(path);
    for (const [i, { name }] of contents.record.models.entries()) {
      const known = checkpoint.record.models.some((model) => model.name === name);
      if (!known || parameterLayout(checkpoint.record.shape).length !== length) continue;
      const arrays = emptyArrays(contents.models[i]!);
      await checkpoint.load(name, arrays);
      const values = [arrays.parameters, ...arrays.state];
      expect(values.every((array) => array.every(Number.isFinite))).toBe(true);
    }
    return true;
  };
  return (await readOrRefuse(sizeOfAll(), read, isRefusal)) ?? false;
}

describe("real files that somebody has changed", () => {
  test.each(checkpointFiles)("%s is read or refused", fuzzTimeout, async (name) => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(changedBytes(originals.get(name)!), async (bytes) => {
        await forge(name, bytes);
        if (await isRead()) read++;
      }),
      { ...fuzzParameters, numRuns: Math.ceil(fuzzCases / checkpointFiles.length) },
    );
    await forge(name, originals.get(name)!);
    expect(await isRead()).toBe(true);
    expect(read).toBeLessThan(fuzzCases);
  });

  test("DONE says what it was written to say, or is refused", fuzzTimeout, () => {
    const done = formatManifest({
      step: 100,
      files: checkpointFiles.map((name) => ({ name, bytes: 12, sha256: "ab".repeat(32) })),
    });
    fc.assert(
      fc.property(changedBytes(done), (bytes) => {
        try {
          expect(Buffer.from(formatManifest(parseManifest(bytes))).equals(bytes)).toBe(true);
        } catch (error) {
          if (!(error instanceof TrainerError)) throw error;
        }
      }),
      fuzzParameters,
    );
  });
});

/** Every place in a JSON value. */
function placesIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, each]) => placesIn(each, [...at, key]))];
}

function replacedAt(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((each: unknown, i) => (String(i) === key ? replacedAt(each, rest, by) : each));
  }
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [key]: replacedAt(object[key], rest, by) };
}

test("a record that says other things is taken or refused", fuzzTimeout, async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(changedJson(contents.record), async (changed) => {
      const bytes = Buffer.from(JSON.stringify(changed));
      const read = () => checkRecord(parseSafeJson(bytes, "state.json"));
      const record = await readOrRefuse(bytes.length, read, isRefusal);
      if (record === undefined) return;
      taken++;
      expect(parameterLayout(record.shape).length).toBeGreaterThan(0);
    }),
    fuzzParameters,
  );
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(fuzzCases);
});

describe("records that nobody has written", () => {
  const { record } = contents;
  const places = placesIn(record);
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 53, 1e300, "../../etc/passwd", "__proto__", "global"),
  );

  test("are checked, or refused by the place that is wrong", fuzzTimeout, () => {
    fc.assert(
      fc.property(fc.nat(places.length - 1), values, (place, value) => {
        // JSON has no −0.
        const changed: unknown = JSON.parse(
          JSON.stringify(replacedAt(record, places[place]!, value)),
        );
        let message = "state.json is as it should be";
        try {
          const checked = checkRecord(changed);
          expect(checkRecord(JSON.parse(JSON.stringify(checked)))).toEqual(checked);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          message = error.message;
        }
        expect(message).toContain("state.json");
        expect(message.length).toBeLessThan(600);
      }),
      fuzzParameters,
    );
  });

  const json = (text: string) => parseSafeJson(Buffer.from(text), "state.json");

  test("with names that objects inherit, or nested without end, are refused", () => {
    for (const name of ["__proto__", "constructor", "prototype"]) {
      expect(() => json(`{"policy": [{"${name}": {"polluted": true}}]}`)).toThrow(name);
    }
    expect(() => json("[".repeat(100_000) + "]".repeat(100_000))).toThrow("nested deeper");
    expect(() => json(`{"a":`)).toThrow("not JSON");
    expect(() => parseSafeJson(Uint8Array.of(0x22, 0xff, 0x22), "state.json")).toThrow("UTF-8");
    expect(json(`{"a": [1, {"b": null}]}`)).toEqual({ a: [1, { b: null }] });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  const changed = (changes: object) => Buffer.from(JSON.stringify({ ...record, ...changes }));
  const restore = () => forge("state.json", originals.get("state.json")!);

  test.each([
    [
      "a network larger than its files",
      { shape: { ...record.shape, features: 2 ** 32 - 1 } },
      "features|small|bytes",
    ],
    [
      "a network larger than any machine",
      { shape: { ...record.shape, hidden: [2 ** 32 - 1, 2 ** 32 - 1] } },
      "parameters",
    ],
    [
      "more models than its files hold",
      {
        models: Array.from({ length: 999 }, (_, i) => ({
          name: i === 0 ? "global" : `replica:${i}`,
          updates: 0,
        })),
      },
      "describes",
    ],
    [
      "a model of a strange name",
      {
        models: [
          { name: "global", updates: 0 },
          { name: "../../x", updates: 0 },
        ],
      },
      "model's name",
    ],
    ["a model twice", { models: [...record.models, record.models[1]] }, "twice"],
    ["an optimiser of another size", { optimizer: { name: "adagrad", epsilon: 1 } }, "describes"],
    ["no optimiser", { optimizer: null }, "describes"],
    ["a member of a later version", { surprise: 1 }, "surprise"],
    ["a missing member", { seed: undefined }, "seed"],
  ])("with %s are refused before anything is taken", async (_, changes, expected) => {
    await forge("state.json", changed(changes));
    const before = process.memoryUsage().arrayBuffers;
    const error: unknown = await openCheckpoint(path).catch((reason: unknown) => reason);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
    await restore();
    expect(error).toBeInstanceOf(TrainerError);
    expect((error as TrainerError).message).toMatch(new RegExp(expected));
  });

  test("with a DONE of many bytes, of another version or of strange files are refused", async () => {
    const done = await readFile(join(path, "DONE"), "utf8");
    const attempts = [
      [done + " ".repeat(10_000), "too many"],
      [done.replace('"version": 1', '"version": 2'), "version 2"],
      [done.replace("optimizer.safetensors", "../../optimizer.st"), "DONE.files"],
      [done.replace(/"bytes": \d+/, '"bytes": 1e308'), "whole number"],
      [done.replace('"step": 100', '"step": 100, "__proto__": 1'), "__proto__"],
    ] as const;
    for (const [text, expected] of attempts) {
      await writeFile(join(path, "DONE"), text);
      await expect(openCheckpoint(path)).rejects.toThrow(expected);
    }
    await restore();
    expect(await isRead()).toBe(true);
  });
});
