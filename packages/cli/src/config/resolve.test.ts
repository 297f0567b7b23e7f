import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  checkVariables,
  environmentLayer,
  fileLayer,
  flagLayer,
  resolveOptions,
  resolveTraining,
} from "./resolve.js";
import { trainSchema } from "./schema.js";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heterosgd-config-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(content: unknown): string {
  const path = join(folder, "config.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const flags = (values: Record<string, unknown>) => flagLayer(trainSchema, values);
const variables = (values: Record<string, string>) => environmentLayer(trainSchema, values);

test("flags win over the file, the file over the environment, that over defaults", async () => {
  const path = file({ epochs: 3, batch: 64 });
  const environment = { HETEROSGD_EPOCHS: "2", HETEROSGD_BATCH: "32", HETEROSGD_SEED: "7" };
  const layers = [
    flags({ epochs: "4" }),
    await fileLayer(trainSchema, path),
    variables(environment),
  ];
  expect(resolveOptions(trainSchema, layers)).toMatchObject({
    epochs: 4,
    batch: 64,
    seed: 7,
    hidden: [128],
  });
});

test("a flag undoes what the file sets", async () => {
  const path = file({ force: true, maxSteps: 3, dynamicDispatch: false });
  const layers = [
    flags({ force: false, maxSteps: "none", dynamicDispatch: true }),
    await fileLayer(trainSchema, path),
  ];
  expect(resolveOptions(trainSchema, layers)).toMatchObject({
    force: false,
    maxSteps: null,
    dynamicDispatch: true,
  });
});

test("an empty variable sets nothing", () => {
  expect(resolveOptions(trainSchema, [variables({ HETEROSGD_EPOCHS: "" })]).epochs).toBe(10);
});

test("paths in a file are relative to its folder, absolute ones and nulls stay", async () => {
  const layer = await fileLayer(trainSchema, file({ train: "a.txt", test: "/b.txt", out: null }));
  expect(layer.values).toEqual({ train: join(folder, "a.txt"), test: "/b.txt", out: null });
});

describe("what is wrong is said with its place, the received and the expected value:", () => {
  test("flag", () => {
    const error = {
      code: "BAD_VALUE",
      message: /^--learning-rate is "fast", but must be a number/,
    };
    expect(() => resolveOptions(trainSchema, [flags({ learningRate: "fast" })])).toThrow(
      expect.objectContaining({ code: error.code }),
    );
    expect(() => resolveOptions(trainSchema, [flags({ learningRate: "fast" })])).toThrow(
      error.message,
    );
  });

  test("variable", () => {
    expect(() => resolveOptions(trainSchema, [variables({ HETEROSGD_BATCH: "0" })])).toThrow(
      "HETEROSGD_BATCH is 0, but must be a whole number of at least 1",
    );
  });

  test("key of a file, where text is not taken for a number", async () => {
    const layer = await fileLayer(trainSchema, file({ epochs: "3" }));
    expect(() => resolveOptions(trainSchema, [layer])).toThrow(
      /^"epochs" in .*config\.json is "3", but must be a whole number of at least 1$/,
    );
  });

  test("a long value is cut", () => {
    const target = { hidden: "x".repeat(500) };
    expect(() => resolveOptions(trainSchema, [flags(target)])).toThrow(/^.{1,200}$/);
  });
});

test("an unknown key is refused, with the one that was meant", async () => {
  await expect(fileLayer(trainSchema, file({ epochz: 3 }))).rejects.toMatchObject({
    code: "UNKNOWN_KEY",
    hint: 'did you mean "epochs"?',
  });
});

test("a value is checked though another wins over it", async () => {
  const layer = await fileLayer(trainSchema, file({ sample: "yes" }));
  expect(() => resolveTraining([flags({ sample: true }), layer])).toThrow(
    /^"sample" in .*config\.json is "yes", but must be true or false$/,
  );
});

test("data that is named above wins over data of the other kind", async () => {
  const layer = await fileLayer(trainSchema, file({ train: "/t", test: "/e", labelNames: "/n" }));
  expect(resolveTraining([flags({ sample: true }), layer])).toMatchObject({
    sample: true,
    train: null,
    test: null,
    labelNames: null,
  });
  const sample = await fileLayer(trainSchema, file({ sample: true }));
  expect(resolveTraining([flags({ train: "t" }), sample])).toMatchObject({
    sample: false,
    train: "t",
  });
});

test("a variable named like an option that there is not is refused, with the one that was meant", () => {
  expect(() => checkVariables({ HETEROSGD_EPOCH: "3" })).toThrow(
    expect.objectContaining({ code: "UNKNOWN_KEY", hint: "did you mean HETEROSGD_EPOCHS?" }),
  );
  const known = {
    HETEROSGD_EPOCHS: "3",
    HETEROSGD_TOP_K: "1",
    HETEROSGD_DEBUG: "1",
    HETEROSGD_NATIVE: "require",
    HETEROSGD_CUBLAS: "off",
    HETEROSGD_CUDA_LIBRARY: "/lib/libcuda.so.1",
    HETEROSGD_OPENCL_LIBRARY: "/lib/libOpenCL.so.1",
  };
  expect(() => checkVariables({ ...known, HETEROSGD_EPOCH: "", PATH: "/bin" })).not.toThrow();
});

test("a byte order mark is no content", async () => {
  expect((await fileLayer(trainSchema, file('\uFEFF{"epochs": 3}'))).values).toEqual({ epochs: 3 });
});

test("a schema reference is no key", async () => {
  expect((await fileLayer(trainSchema, file({ $schema: "./s.json" }))).values).toEqual({});
});

test.each([
  ["{", "CONFIG_FORMAT"],
  ["[]", "CONFIG_FORMAT"],
  ["null", "CONFIG_FORMAT"],
  [`{"epochs":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "CONFIG_FORMAT"],
])("a file that is no JSON object is refused: %.9s", async (text, code) => {
  await expect(fileLayer(trainSchema, file(text))).rejects.toMatchObject({ code });
});

test("a file that cannot be read is refused", async () => {
  const missing = fileLayer(trainSchema, join(folder, "nowhere.json"));
  await expect(missing).rejects.toMatchObject({ code: "CONFIG_UNREADABLE" });
  await expect(fileLayer(trainSchema, folder)).rejects.toThrow(/it is a folder/);
});

test("the published values lie between what is set and the defaults", () => {
  const published = resolveTraining([flags({ paper: true })]);
  expect(published).toMatchObject({
    batchScaling: "proportional",
    merge: "normalized",
    perturbation: 0.1,
    normThreshold: 0.1,
    momentum: 0.9,
  });
  const changed = resolveTraining([
    flags({ paper: true, momentum: "0.5" }),
    variables({ HETEROSGD_BATCH_SCALING: "off" }),
  ]);
  expect(changed).toMatchObject({ momentum: 0.5, batchScaling: "off", perturbation: 0.1 });
});

test("options of other algorithms are refused with their place and what there is instead", async () => {
  expect(() => resolveTraining([flags({ algorithm: "ssp", kappa: "0.5" })])).toThrow(
    expect.objectContaining({
      code: "CONFLICT",
      message: "--kappa is an option of adaptive-sgd, but the algorithm is ssp",
      hint: "the options of ssp are --batch, --staleness, --round-rows",
    }),
  );
  const layer = await fileLayer(trainSchema, file({ algorithm: "local", dynamicDispatch: false }));
  expect(() => resolveTraining([layer])).toThrow(
    /^"dynamicDispatch" in .* is an option of adaptive/,
  );
  const unset = await fileLayer(trainSchema, file({ algorithm: "local", dynamicDispatch: null }));
  expect(resolveTraining([unset, flags({ localSteps: "3" })])).toMatchObject({ localSteps: 3 });
});
