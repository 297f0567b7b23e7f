import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ModelError, parameterLayout, type ModelShape } from "../src/index.js";
import { loadModel, saveModel, type Model } from "../src/node.js";

let folder = "";
let path = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "heterosgd-model-"));
  path = join(folder, "model.safetensors");
});
afterAll(() => rm(folder, { recursive: true }));

const shape: ModelShape = {
  features: 7,
  hidden: [5, 3],
  labels: 4,
  activation: "tanh",
  loss: "sigmoid",
};

/** A model whose parameters count 1, 2, 3 …, with zeros in the padding. */
function countingModel(): Model {
  const layout = parameterLayout(shape);
  const parameters = new Float32Array(layout.length);
  let value = 0;
  for (const { offset, length } of layout.tensors) {
    for (let i = 0; i < length; i++) parameters[offset + i] = ++value;
  }
  return {
    shape,
    parameters,
    labelNames: ["cat", 'a "quoted" name', "ünïcödé 🐈", "__proto__"],
    info: { "trained on": "a fixture" },
  };
}

/** The file taken apart by hand: little-endian header length, JSON, bytes. */
function takeApart(file: Buffer) {
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString("utf8")) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  return { length, header, data: file.subarray(8 + length) };
}

/** The file put together again, around another header. */
function withHeader(file: Buffer, change: (header: Record<string, unknown>) => void): Buffer {
  const { header, data } = takeApart(file);
  change(header);
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

async function codeOfLoading(bytes: Uint8Array): Promise<string> {
  const changed = join(folder, "changed.safetensors");
  await writeFile(changed, bytes);
  try {
    await loadModel(changed);
    return "loaded";
  } catch (error) {
    if (error instanceof ModelError) {
      return error.message.includes(changed) ? error.code : "message without the path";
    }
    throw error;
  }
}

describe("a model file", () => {
  it("gives back what was saved", async () => {
    const model = countingModel();
    await saveModel(path, model);
    const loaded = await loadModel(path);
    expect(loaded.shape).toEqual(model.shape);
    expect([...loaded.parameters]).toEqual([...model.parameters]);
    expect(loaded.parameters.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(loaded.labelNames).toEqual(model.labelNames);
    expect(loaded.info).toEqual(model.info);
    expect(loaded.layout).toEqual(parameterLayout(shape));
  });

  it("needs neither label names nor notes, and writes from shared memory", async () => {
    const { parameters: own } = countingModel();
    const parameters = new Float32Array(new SharedArrayBuffer(own.byteLength));
    parameters.set(own);
    await saveModel(path, { shape, parameters });
    const allocate = (length: number) => new Float32Array(length);
    const loaded = await loadModel(path, { allocate });
    expect(loaded).not.toHaveProperty("labelNames");
    expect(loaded.info).toEqual({});
    expect([...loaded.parameters]).toEqual([...own]);
    expect(loaded.parameters.buffer).toBeInstanceOf(ArrayBuffer);
  });

  it("is laid out as the safetensors format asks, aligned and without gaps", async () => {
    await saveModel(path, countingModel());
    const { length, header, data } = takeApart(await readFile(path));
    expect((8 + length) % 8).toBe(0);
    const { __metadata__: metadata, ...tensors } = header;
    for (const value of Object.values(metadata!)) expect(value).toBeTypeOf("string");
    expect(
      Object.entries(tensors).map(([name, tensor]) => [name, tensor.dtype, tensor.shape]),
    ).toEqual([
      ["input.weight", "F32", [7, 5]],
      ["input.bias", "F32", [5]],
      ["hidden.1.weight", "F32", [3, 5]],
      ["hidden.1.bias", "F32", [3]],
      ["output.weight", "F32", [4, 3]],
      ["output.bias", "F32", [4]],
    ]);
    let end = 0;
    let value = 0;
    for (const { shape: dimensions, data_offsets: offsets } of Object.values(tensors)) {
      expect(offsets[0]).toBe(end);
      end = offsets[1];
      expect(end - offsets[0]).toBe(4 * dimensions.reduce((a, b) => a * b));
      for (let i = offsets[0]; i < end; i += 4) expect(data.readFloatLE(i)).toBe(++value);
    }
    expect(data.length).toBe(end);
  });

  it("replaces an older file whole, and leaves no temporary file behind", async () => {
    const target = join(await mkdtemp(join(folder, "own-")), "model.safetensors");
    await saveModel(target, countingModel());
    await saveModel(target, { ...countingModel(), info: { second: "time" } });
    expect((await loadModel(target)).info).toEqual({ second: "time" });
    expect(await readdir(join(target, ".."))).toEqual(["model.safetensors"]);
  });

  it("leaves no temporary file behind when it can't be written", async () => {
    const missing = saveModel(join(folder, "no", "model.safetensors"), countingModel());
    await expect(missing).rejects.toMatchObject({ name: "ModelError", code: "MODEL_WRITE" });
    const inside = await mkdtemp(join(folder, "taken-"));
    await expect(saveModel(inside, countingModel())).rejects.toMatchObject({ code: "MODEL_WRITE" });
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("refuses parameters and label names that don't fit the shape", async () => {
    const model = countingModel();
    await expect(saveModel(path, { ...model, parameters: new Float32Array(3) })).rejects.toThrow(
      RangeError,
    );
    await expect(saveModel(path, { ...model, labelNames: ["one"] })).rejects.toThrow(RangeError);
  });
});

describe("a file that isn't a sound model", () => {
  let sound: Buffer;
  beforeAll(async () => {
    await saveModel(path, countingModel());
    sound = await readFile(path);
  });

  it("has a code for each way in which a path can be wrong", async () => {
    const missing = loadModel(join(folder, "missing"));
    await expect(missing).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await expect(loadModel(folder)).rejects.toMatchObject({ code: "MODEL_UNREADABLE" });
    expect(await codeOfLoading(Buffer.alloc(0))).toBe("MODEL_TRUNCATED");
    expect(await codeOfLoading(Buffer.from("not a model, but text of some length"))).toBe(
      "MODEL_FORMAT",
    );
  });

  it("is reported as truncated wherever it is cut", async () => {
    for (let length = 0; length < sound.length; length += 37) {
      expect(await codeOfLoading(sound.subarray(0, length))).toBe("MODEL_TRUNCATED");
    }
    expect(await codeOfLoading(sound.subarray(0, sound.length - 1))).toBe("MODEL_TRUNCATED");
  });

  it("is refused if a parameter is not finite, with the tensor and the element", async () => {
    for (const value of [NaN, Infinity, -Infinity]) {
      const model = countingModel();
      const tensor = parameterLayout(shape).tensors[2]!;
      model.parameters[tensor.offset + 4] = value;
      await saveModel(path, model);
      expect(await codeOfLoading(await readFile(path))).toBe("MODEL_NOT_FINITE");
      await expect(loadModel(path)).rejects.toThrow(
        `element 4 of tensor ${tensor.name} is ${value}`,
      );
    }
  });

  it("is told from packed data", async () => {
    const packed = gzipSync("some rows of a data file\n");
    expect(await codeOfLoading(packed)).toBe("MODEL_FORMAT");
    await writeFile(path, packed);
    await expect(loadModel(path)).rejects.toThrow("it is gzip, not a model");
  });

  it("is refused if bytes follow", async () => {
    expect(await codeOfLoading(Buffer.concat([sound, Buffer.alloc(1)]))).toBe("MODEL_FORMAT");
  });

  it("is refused if the header's length is absurd", async () => {
    const absurd = Buffer.from(sound);
    absurd.writeBigUInt64LE(2n ** 63n, 0);
    expect(await codeOfLoading(absurd)).toBe("MODEL_FORMAT");
  });

  const tensor = (name: string, entry: object) => (header: Record<string, unknown>) => {
    header[name] = { ...(header[name] as object), ...entry };
  };
  const metadata = (entry: object) => tensor("__metadata__", entry);
  const shaped = (entry: object) => metadata({ shape: JSON.stringify({ ...shape, ...entry }) });
  it.each<[string, string, (header: Record<string, unknown>) => void]>([
    ["a tensor overlaps another", "MODEL_FORMAT", tensor("input.bias", { data_offsets: [0, 20] })],
    [
      "a tensor lies outside",
      "MODEL_FORMAT",
      tensor("output.bias", { data_offsets: [9000, 9016] }),
    ],
    ["offsets run backwards", "MODEL_FORMAT", tensor("output.bias", { data_offsets: [16, 0] })],
    ["offsets are negative", "MODEL_FORMAT", tensor("input.bias", { data_offsets: [-20, 0] })],
    ["offsets are fractions", "MODEL_FORMAT", tensor("input.bias", { data_offsets: [0.5, 20.5] })],
    [
      "offsets don't match the shape",
      "MODEL_FORMAT",
      tensor("input.bias", { data_offsets: [140, 164] }),
    ],
    ["a tensor isn't float32", "MODEL_FORMAT", tensor("input.bias", { dtype: "F16" })],
    ["a tensor has another shape", "MODEL_SHAPE", tensor("input.weight", { shape: [5, 7] })],
    ["a tensor is missing", "MODEL_FORMAT", (header) => delete header["input.bias"]],
    [
      "a tensor is unknown",
      "MODEL_SHAPE",
      tensor("extra", { dtype: "F32", shape: [0], data_offsets: [0, 0] }),
    ],
    ["there is no configuration", "MODEL_FORMAT", (header) => delete header["__metadata__"]],
    ["another program wrote it", "MODEL_FORMAT", metadata({ format: "pt" })],
    ["the version is newer", "MODEL_FORMAT", metadata({ version: "2" })],
    ["the shape isn't JSON", "MODEL_FORMAT", metadata({ shape: "{" })],
    ["the shape has an unknown key", "MODEL_SHAPE", shaped({ depth: 3 })],
    ["the shape is enormous", "MODEL_SHAPE", shaped({ features: 4e9, hidden: [4e9, 4e9] })],
    ["the shape has a size of zero", "MODEL_SHAPE", shaped({ labels: 0 })],
    ["the shape has a fraction", "MODEL_SHAPE", shaped({ hidden: [5.5] })],
    ["the shape has no hidden layer", "MODEL_SHAPE", shaped({ hidden: [] })],
    ["the activation is unknown", "MODEL_SHAPE", shaped({ activation: "gelu" })],
    ["label names are too few", "MODEL_SHAPE", metadata({ labelNames: '["one"]' })],
    ["label names aren't strings", "MODEL_SHAPE", metadata({ labelNames: "[1,2,3,4]" })],
    ["metadata aren't strings", "MODEL_FORMAT", metadata({ version: 1 })],
    ["notes aren't a map", "MODEL_SHAPE", metadata({ info: "[]" })],
  ])("is refused if %s", async (_, code, change) => {
    expect(await codeOfLoading(withHeader(sound, change))).toBe(code);
  });

  it("is refused if its header holds a key that objects inherit", async () => {
    const text = sound.toString("latin1").replace('"input.bias":', '"__proto__" :');
    expect(text).toHaveLength(sound.length);
    expect(await codeOfLoading(Buffer.from(text, "latin1"))).toBe("MODEL_FORMAT");
    expect(({} as Record<string, unknown>).dtype).toBeUndefined();
  });

  it("causes coded errors alone, whichever bytes of the header are changed", async () => {
    const headerEnd = 8 + takeApart(sound).length;
    const edit = fc.record({
      position: fc.nat(headerEnd - 1),
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        fc
          .constantFrom("{", "}", "[", '"', "0", "-1", "1e9", "null", "__proto__", "\\")
          .map((text) => Buffer.from(text)),
      ),
      insert: fc.boolean(),
    });
    const codes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let file = Buffer.from(sound);
        for (const { position, bytes, insert } of edits) {
          const rest = file.subarray(position + (insert ? 0 : bytes.length));
          file = Buffer.concat([file.subarray(0, position), bytes, rest]);
        }
        codes.add(await codeOfLoading(file));
      }),
      { seed: 20_260, numRuns: 300 },
    );
    expect(codes).toContain("MODEL_FORMAT");
    expect(codes).toContain("MODEL_TRUNCATED");
    expect(codes).toContain("MODEL_SHAPE");
  });
});
