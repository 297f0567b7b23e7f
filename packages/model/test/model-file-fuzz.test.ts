/** Model files of strangers. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
import { runLimited } from "../../../test-support/limited-process.js";
import { ModelError, parameterLayout, type ModelShape } from "../src/index.js";
import { loadModel, saveModel, type LoadedModel } from "../src/node.js";

const shape: ModelShape = {
  features: 7,
  hidden: [5, 3],
  labels: 4,
  activation: "relu",
  loss: "softmax",
};

let folder = "";
let path = "";
let original: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "heterosgd-hostile-"));
  path = join(folder, "model.safetensors");
  const parameters = new Float32Array(parameterLayout(shape).length).fill(0.5);
  const labelNames = ["a", "__proto__", "constructor", "../../x"];
  await saveModel(path, { shape, parameters, labelNames, info: { config: '{"epochs":3}' } });
  original = await readFile(path);
});
afterAll(() => rm(folder, { recursive: true }));

type Header = Readonly<Record<string, unknown>>;

function takeApart(file: Buffer): { readonly header: Header; readonly data: Buffer } {
  const end = 8 + Number(file.readBigUInt64LE(0));
  return { header: JSON.parse(file.toString("utf8", 8, end)) as Header, data: file.subarray(end) };
}

function fileOf(header: string, data: Uint8Array): Buffer {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

/** Loads the bytes, and expects of a model that it is one. */
async function load(bytes: Uint8Array): Promise<LoadedModel | undefined> {
  await writeFile(path, bytes);
  let asked = 0;
  const allocate = (length: number) => {
    asked += length;
    return new Float32Array(length);
  };
  const model = await readOrRefuse(
    bytes.length,
    () => loadModel(path, { allocate }),
    (error) => error instanceof ModelError,
  );
  // Padding: less than a cache line for each tensor.
  const tensors = 2 * (1000 + 1);
  expect(4 * asked).toBeLessThanOrEqual(bytes.length + 64 * tensors);
  if (model === undefined) return undefined;
  expect(model.parameters.every(Number.isFinite)).toBe(true);
  expect(model.layout).toEqual(parameterLayout(model.shape));
  expect(model.labelNames?.length ?? model.shape.labels).toBe(model.shape.labels);
  expect(Object.getPrototypeOf(model.info)).toBe(Object.prototype);
  for (const note of Object.values(model.info)) expect(note).toBeTypeOf("string");
  return model;
}

/** Tries files. Returns which part of them was loaded: some must be, or little is tried, and not all. */
async function partLoaded(files: fc.Arbitrary<Uint8Array>): Promise<number> {
  let loaded = 0;
  await fc.assert(
    fc.asyncProperty(files, async (bytes) => {
      if ((await load(bytes)) !== undefined) loaded++;
    }),
    fuzzParameters,
  );
  return loaded / fuzzCases;
}

describe("a model file of a stranger is loaded or refused", () => {
  test("if bytes of it are changed", fuzzTimeout, async () => {
    const part = await partLoaded(changedBytes(original));
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(1);
  });

  test("if its header says other things", fuzzTimeout, async () => {
    const { header, data } = takeApart(original);
    const headers = changedJson(header).map((changed) => JSON.stringify(changed));
    const part = await partLoaded(headers.map((changed) => fileOf(changed, data)));
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(1);
  });

  test.each(["shape", "labelNames", "info"])(
    "if its %s says other things",
    fuzzTimeout,
    async (name) => {
      const { header, data } = takeApart(original);
      const metadata = header["__metadata__"] as Readonly<Record<string, string>>;
      const headers = changedJson(JSON.parse(metadata[name]!)).map((value) => {
        const changed = { ...metadata, [name]: JSON.stringify(value) };
        return JSON.stringify({ ...header, __metadata__: changed });
      });
      const part = await partLoaded(headers.map((changed) => fileOf(changed, data)));
      expect(part).toBeGreaterThan(0);
      expect(part).toBeLessThan(1);
    },
  );

  test("if it is none at all", fuzzTimeout, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((header) => fileOf(header, Buffer.alloc(16))),
        ),
        async (bytes) => {
          expect(await load(bytes)).toBeUndefined();
        },
      ),
      fuzzParameters,
    );
  });

  test.skipIf(process.platform === "win32")("if it is a pipe that nobody writes to", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(loadModel(pipe)).rejects.toMatchObject({ code: "MODEL_UNREADABLE" });
    await expect(loadModel("/dev/zero")).rejects.toMatchObject({ code: "MODEL_UNREADABLE" });
  });
});

describe("a header that is large in memory is refused in little", () => {
  const MANY = 2_000_000;
  const sound = () => takeApart(original).header;
  const metadata = (entry: object) =>
    JSON.stringify({
      ...sound(),
      __metadata__: { ...(sound()["__metadata__"] as object), ...entry },
    });
  const shaped = (entry: object) => metadata({ shape: JSON.stringify({ ...shape, ...entry }) });
  const numbers = Array.from({ length: MANY }, () => 1);
  const texts = Array.from({ length: MANY }, () => "");

  test.each<[string, () => string, string]>([
    ["objects without end", () => `{"x":[${"{},".repeat(MANY)}0]}`, "MODEL_FORMAT"],
    ["lists within lists", () => `{"x":${"[".repeat(MANY)}${"]".repeat(MANY)}}`, "MODEL_FORMAT"],
    ["members without end", () => `{${texts.map((_, i) => `"${i}":0`).join()}}`, "MODEL_FORMAT"],
    [
      "numbers as label names",
      () => metadata({ labelNames: JSON.stringify(numbers) }),
      "MODEL_SHAPE",
    ],
    ["too many label names", () => metadata({ labelNames: JSON.stringify(texts) }), "MODEL_SHAPE"],
    ["layers without end", () => shaped({ hidden: numbers }), "MODEL_SHAPE"],
    ["layers that are none", () => shaped({ hidden: texts }), "MODEL_SHAPE"],
    [
      "notes without end",
      () => metadata({ info: `{${texts.map((_, i) => `"${i}":0`).join()}}` }),
      "MODEL_FORMAT",
    ],
    [
      "a name without end",
      () => JSON.stringify({ ...sound(), ["x".repeat(MANY)]: 0 }),
      "MODEL_SHAPE",
    ],
    ["a member of the shape without end", () => shaped({ ["x".repeat(MANY)]: 0 }), "MODEL_SHAPE"],
    [
      "a tensor of dimensions without end",
      () =>
        JSON.stringify({
          ...sound(),
          "input.bias": { dtype: "F32", shape: numbers, data_offsets: [0, 20] },
        }),
      "MODEL_FORMAT",
    ],
  ])("%s", { timeout: 120_000 }, async (_, header, code) => {
    await writeFile(path, fileOf(header(), takeApart(original).data));
    const { error, mebibytes } = await runLimited("packages/model/test/load-limited.ts", path);
    expect(error).toMatchObject({ name: "ModelError", code });
    expect(error!.message.length).toBeLessThan(500);
    expect(mebibytes).toBeLessThan(600);
  });

  test("notes that could not be loaded again are not saved", async () => {
    const parameters = new Float32Array(parameterLayout(shape).length);
    const notes = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`note ${i}`, ":{["]));
    await saveModel(path, { shape, parameters, info: notes(50_000) });
    expect(Object.keys((await loadModel(path)).info)).toHaveLength(50_000);
    await expect(saveModel(path, { shape, parameters, info: notes(50_001) })).rejects.toMatchObject(
      {
        code: "MODEL_WRITE",
      },
    );
  });
});
